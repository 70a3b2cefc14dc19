// The order of the list is the order of choice. The vendors' libraries stand behind our own best ones, which accept
// every problem, so that no library is taken unless asked for by name.
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_thin(),          gemm_split(),       gemm_split_k(),         gemm_register(), gemm_tiled(),
          gemm_vendor_onednn(), gemm_vendor_blis(), gemm_vendor_openblas(), gemm_naive(),    gemm_sequential()};
}

}  // namespace tessera::cpu_tbb
