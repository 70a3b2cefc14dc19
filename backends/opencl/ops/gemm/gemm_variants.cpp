// The variants of gemm, best first, plain one last.
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_tiled(), gemm_naive()};
}

}  // namespace tessera::opencl
