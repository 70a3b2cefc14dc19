// The order of the list is the order of choice.
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<Gemm> gemm_variants() {
  return {gemm_tiled(), gemm_naive(), gemm_sequential()};
}

}  // namespace tessera::cpu_tbb
