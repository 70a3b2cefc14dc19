// denoise on CUDA: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include <tessera/ops/denoise.h>

#include "backend/variant.h"

namespace tessera::cuda {

[[nodiscard]] backend::VariantList<Denoise> denoise_variants();

[[nodiscard]] backend::Variant<Denoise> denoise_fused();
[[nodiscard]] backend::Variant<Denoise> denoise_staged();

}  // namespace tessera::cuda
