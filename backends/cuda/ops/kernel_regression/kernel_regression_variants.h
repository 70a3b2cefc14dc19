// The variants of kernel_regression on CUDA, each in its own file.
#pragma once

#include <tessera/ops/kernel_regression.h>

#include "backend/variant.h"

namespace tessera::cuda {

[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_exact_bytes();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_fused_split();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_fused();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_vendor_cublas();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_one_kernel();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_two_kernels();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_naive();

[[nodiscard]] backend::VariantList<KernelRegression> kernel_regression_variants();

}  // namespace tessera::cuda
