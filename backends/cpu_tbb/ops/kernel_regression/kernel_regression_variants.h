// The variants of kernel_regression on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<KernelRegression> kernel_regression_variants();

[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_exact_bytes();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_fused();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_naive();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_sequential();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_vendor_openblas();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_vendor_blis();
[[nodiscard]] backend::Variant<KernelRegression> kernel_regression_vendor_onednn();

}  // namespace tessera::cpu_tbb
