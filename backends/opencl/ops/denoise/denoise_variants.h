// denoise on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/denoise.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<Denoise> denoise_variants();

[[nodiscard]] backend::Variant<Denoise> denoise_fused();
[[nodiscard]] backend::Variant<Denoise> denoise_staged();

}  // namespace tessera::opencl
