// kernel_regression: which variants go on from a slab of the training set to the next.
#pragma once

#include <tessera/ops/kernel_regression.h>

#include "backend/variant.h"

namespace tessera::mathematics {

/// For variants that know all distances before they take the first weight.
[[nodiscard]] inline backend::Verdict check_regression_is_whole(const KernelRegression& problem) {
  if (!problem.is_slab) return backend::Verdict::yes();
  return backend::Verdict::no(
      "kernel_regression is given a slab of its training set, but takes the least of all distances before the first "
      "weight");
}

}  // namespace tessera::mathematics
