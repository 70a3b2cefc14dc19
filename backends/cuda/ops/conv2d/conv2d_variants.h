// The variants of conv2d on CUDA.
#pragma once

#include <tessera/ops/conv2d.h>

#include "backend/variant.h"

namespace tessera::cuda {

/// Best first.
[[nodiscard]] backend::VariantList<Conv2d> conv2d_variants();

[[nodiscard]] backend::Variant<Conv2d> conv2d_separable();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching();
[[nodiscard]] backend::Variant<Conv2d> conv2d_vendor_cudnn();

}  // namespace tessera::cuda
