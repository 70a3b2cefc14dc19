// conv2d on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/conv2d.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<Conv2d> conv2d_variants();

[[nodiscard]] backend::Variant<Conv2d> conv2d_separable_lanes();
[[nodiscard]] backend::Variant<Conv2d> conv2d_separable_bands();
[[nodiscard]] backend::Variant<Conv2d> conv2d_separable();
[[nodiscard]] backend::Variant<Conv2d> conv2d_separable_passes();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching_lanes();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching_bands();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching();
[[nodiscard]] backend::Variant<Conv2d> conv2d_register_tiled();
[[nodiscard]] backend::Variant<Conv2d> conv2d_tiled();
[[nodiscard]] backend::Variant<Conv2d> conv2d_naive();

}  // namespace tessera::opencl
