// The order of the list is the order of choice. cuBLAS stands behind our own best ones, which take every problem, so
// that it is not taken unless asked for, and is given a batch as it is.
#include "ops/gemm/gemm_variants.h"

#include "mathematics/gemm_in_rows.h"

namespace tessera::cuda {

backend::VariantList<Gemm> gemm_variants() {
  using mathematics::in_rows;
  return {in_rows<gemm_thin>(),
          in_rows<gemm_shallow>(),
          in_rows<gemm_scaled_half>(),
          in_rows<gemm_split>(),
          in_rows<gemm_scaled_half_mma>(),
          in_rows<gemm_split_mma>(),
          in_rows<gemm_register>(),
          in_rows<gemm_tiled>(),
          in_rows<gemm_coalesced_a>(),
          gemm_vendor_cublas(),
          in_rows<gemm_naive>()};
}

}  // namespace tessera::cuda
