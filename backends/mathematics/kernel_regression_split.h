// Distances of kernel_regression by split products (docs/decisions/0027, 0032): which problems they take, and the bound
// of their errors, on any backend.
#pragma once

#include <tessera/ops/kernel_regression.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/sentence.h"
#include "backend/variant.h"
#include "mathematics/gemm_split_bound.h"

namespace tessera::mathematics {

/// Whatever the device is.
[[nodiscard]] inline backend::Verdict check_regression_split(const KernelRegression& problem) {
  if (problem.type != DataType::float32) {
    return backend::Verdict::no(backend::sentence("the rows of kernel_regression are ", to_string(problem.type),
                                                  ", but fused_split splits float32 alone"));
  }
  if (problem.accuracy == Accuracy::strict) {
    return backend::Verdict::no(
        "the accuracy of kernel_regression is strict, but fused_split takes distances from lengths and from products "
        "that it makes of three of shorter numbers");
  }
  return backend::Verdict::yes();
}

/// The bound as a multiple of the strict algorithm's. The tensor cores add up products of `panel_depth` columns before
/// the sum goes to float32.
[[nodiscard]] inline double regression_split_error_factor(std::int64_t columns, std::int64_t panel_depth) {
  const auto d = static_cast<double>(columns);
  // In units of roundoff: of |q| |t|, what a product is off by, small elements included; of (|q| + |t|)^2, the centre
  // taken off, both lengths' sums, and what the three are added up to.
  const double product = gemm_split_roundings(d, GemmSplitKind::split, panel_depth) + 1;
  const double centre = 2, lengths = std::ceil(d / 32) + 14, sum = 2;
  constexpr double kSecondOrder = 1 + 0x1p-8;
  constexpr double kOfFused = 2;
  return std::max(kOfFused, kSecondOrder * (product / 2 + centre + lengths + sum) / (d + 8));
}

}  // namespace tessera::mathematics
