// A gemm as it is computed: its factors in its own type, and nothing summed up where nothing counts.
#pragma once

#include <tessera/ops/gemm.h>

namespace tessera::mathematics {

/// alpha and beta rounded to the problem's type. Where alpha is 0 then, or k, both are 0: A and B are not read, and an
/// empty sum is 0, not 0 times whatever alpha is.
[[nodiscard]] constexpr Gemm gemm_as_computed(const Gemm& problem) noexcept {
  Gemm computed = problem;
  if (problem.type == DataType::float32) {
    computed.alpha = static_cast<float>(problem.alpha);
    computed.beta = static_cast<float>(problem.beta);
  }
  if (computed.alpha == 0 || computed.k == 0) {
    computed.alpha = 0;
    computed.k = 0;
  }
  return computed;
}

}  // namespace tessera::mathematics
