// kernel_regression on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/kernel_regression.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<KernelRegression> kernel_regression_variants();

[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_exact_bytes_wgmma();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_exact_bytes_tensor();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_exact_bytes();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_fused();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_fused_split();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_one_kernel();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_two_kernels();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_naive();

}  // namespace tessera::opencl
