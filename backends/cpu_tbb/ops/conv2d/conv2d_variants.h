// The variants of conv2d on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<Conv2d> conv2d_variants();

[[nodiscard]] backend::Variant<Conv2d> conv2d_separable();
[[nodiscard]] backend::Variant<Conv2d> conv2d_marching();
[[nodiscard]] backend::Variant<Conv2d> conv2d_unrolled();
[[nodiscard]] backend::Variant<Conv2d> conv2d_vendor_opencv();
[[nodiscard]] backend::Variant<Conv2d> conv2d_private_sum();
[[nodiscard]] backend::Variant<Conv2d> conv2d_accumulate();
[[nodiscard]] backend::Variant<Conv2d> conv2d_sequential();

}  // namespace tessera::cpu_tbb
