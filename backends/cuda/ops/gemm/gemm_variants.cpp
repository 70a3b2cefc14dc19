// The order of the list is the order of choice. cuBLAS stands behind our own best ones, which take every problem, so
// that it is not taken unless asked for.
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_thin(),      gemm_shallow(),  gemm_scaled_half(), gemm_split(),       gemm_scaled_half_mma(),
          gemm_split_mma(), gemm_register(), gemm_tiled(),       gemm_coalesced_a(), gemm_vendor_cublas(),
          gemm_naive()};
}

}  // namespace tessera::cuda
