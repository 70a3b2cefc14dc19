// The variants of gemm, best first, plain one last. The vendor's library never pays, so that it is not taken unless it
// is asked for by name, and is given a batch as it is.
#include "ops/gemm/gemm_variants.h"

#include "mathematics/gemm_in_rows.h"

namespace tessera::opencl {

backend::VariantList<Gemm> gemm_variants() {
  using mathematics::in_rows;
  return {in_rows<gemm_thin>(),          in_rows<gemm_shallow>(),         in_rows<gemm_split>(),
          in_rows<gemm_register_dots>(), in_rows<gemm_register_panels>(), in_rows<gemm_register_local>(),
          in_rows<gemm_tiled>(),         in_rows<gemm_coalesced_a>(),     gemm_vendor_clblast(),
          in_rows<gemm_naive>()};
}

}  // namespace tessera::opencl
