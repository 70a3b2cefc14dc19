// The variants of gemm, best first, plain one last. The vendor's library never pays, so that it is not taken unless it
// is asked for by name.
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_thin(),           gemm_shallow(), gemm_split(),       gemm_register_dots(),  gemm_register_panels(),
          gemm_register_local(), gemm_tiled(),   gemm_coalesced_a(), gemm_vendor_clblast(), gemm_naive()};
}

}  // namespace tessera::opencl
