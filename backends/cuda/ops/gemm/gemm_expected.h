// Which of gemm's variants is expected to be fastest, by the models of all that have one: each pays where it is.
#pragma once

#include <tessera/ops/gemm.h>

#include <string_view>

#include "backend/variant.h"
#include "cuda_context.h"

namespace tessera::cuda {

/// Yes if this variant, which takes the problem and may pay, is expected to be fastest; no with both times.
[[nodiscard]] backend::Verdict gemm_is_fastest(std::string_view variant, const Gemm& problem, const DeviceLimits& card);

}  // namespace tessera::cuda
