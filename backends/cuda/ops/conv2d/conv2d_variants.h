// The variants of conv2d on CUDA, each in its own file but for the two that march and the two that take
// filters of every size.
#pragma once

#include <tessera/ops/conv2d.h>

#include "backend/variant.h"

namespace tessera::cuda {

/// Best first.
[[nodiscard]] backend::VariantList<Conv2d> conv2d_variants();

[[nodiscard]] backend::Variant<Conv2d> conv2d_separable();
[[nodiscard]] backend::Variant<Conv2d> conv2d_separable_passes();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching();
[[nodiscard]] backend::Variant<Conv2d> conv2d_register_tiled();
[[nodiscard]] backend::Variant<Conv2d> conv2d_tiled();
[[nodiscard]] backend::Variant<Conv2d> conv2d_vendor_cudnn();
[[nodiscard]] backend::Variant<Conv2d> conv2d_naive();

}  // namespace tessera::cuda
