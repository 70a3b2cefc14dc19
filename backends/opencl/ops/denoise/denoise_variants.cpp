// The variants of denoise, best first, plain one last.
#include "ops/denoise/denoise_variants.h"

namespace tessera::opencl {

backend::VariantList<Denoise> denoise_variants() {
  return {denoise_fused(), denoise_staged()};
}

}  // namespace tessera::opencl
