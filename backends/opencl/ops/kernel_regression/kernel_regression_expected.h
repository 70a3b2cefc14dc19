// Which of kernel_regression's variants is expected to be fastest, by the models of all that have one: each pays where
// it is.
#pragma once

#include <string_view>

#include <tessera/ops/kernel_regression.h>

#include "backend/variant.h"

namespace tessera::opencl {

/// Yes if this variant, which takes the problem, is expected to be fastest; no with its time and the fastest one's.
[[nodiscard]] backend::Verdict regression_is_fastest(std::string_view variant, const KernelRegression& problem,
                                                     const backend::Device& device);

}  // namespace tessera::opencl
