// The variants of gemm, best first, plain one last.
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_register(), gemm_tiled(), gemm_coalesced_a(), gemm_naive()};
}

}  // namespace tessera::opencl
