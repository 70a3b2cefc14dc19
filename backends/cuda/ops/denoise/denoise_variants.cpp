// The order of the list is the order of choice.
#include "ops/denoise/denoise_variants.h"

namespace tessera::cuda {

backend::VariantList<Denoise> denoise_variants() {
  return {denoise_fused(), denoise_staged()};
}

}  // namespace tessera::cuda
