// The weight of a training row in a kernel regression, relative to the nearest row's.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <tessera/ops/kernel_regression.h>

namespace tessera::mathematics {

/// What a distance is multiplied by to give the exponent a: the squared one, or its root where the problem says so.
[[nodiscard]] inline double regression_factor(const KernelRegression& problem) noexcept {
  const double second_scale = problem.distance == Distance::euclidean ? 1 : problem.scale;
  return problem.order * problem.order * problem.scale * second_scale / 2;
}

/// So far beyond the nearest row, in squared distances or, where the problem says so, in their roots, others still
/// weigh something: a little more than where exp() passes the smallest normal number. Infinite where all rows weigh the
/// same.
[[nodiscard]] inline double regression_reach(const KernelRegression& problem) noexcept {
  const double exponent = problem.result_type() == DataType::float64 ? 709 : 88;
  const double factor = regression_factor(problem);
  return factor == 0 ? std::numeric_limits<double>::infinity() : exponent / factor;
}

/// exp(a_min - a) of squared distances, in the results' type. The exponent is made from a difference of distances, not
/// from a difference of exponents: what two large exponents have in common would cost the digits that matter.
template <class Result>
class RegressionWeight {
 public:
  explicit RegressionWeight(const KernelRegression& problem)
      : is_euclidean_(problem.distance == Distance::euclidean), factor_(regression_factor(problem)) {}

  /// `Squared` is an integer or floating-point type; `squared` is no less than `least`. 0 where it is infinite,
  /// and where the weight is smaller than the smallest normal number.
  template <class Squared>
  [[nodiscard]] Result operator()(Squared squared, Squared least) const {
    if (squared == least) return 1;  // however large the factor is
    if (!std::isfinite(static_cast<double>(squared))) return 0;
    const auto above = static_cast<double>(squared - least);
    const double exponent =
        is_euclidean_
            ? factor_ * above / (std::sqrt(static_cast<double>(squared)) + std::sqrt(static_cast<double>(least)))
            : factor_ * above;
    const auto weight = static_cast<Result>(std::exp(static_cast<Result>(-exponent)));
    return weight < std::numeric_limits<Result>::min() ? 0 : weight;
  }

 private:
  bool is_euclidean_;
  double factor_;
};

/// The class that a row's first target votes for; -1 for none.
template <class Result>
[[nodiscard]] std::int64_t regression_class(Result target, std::int64_t classes) {
  if (!(target >= 0) || !(target < static_cast<Result>(classes))) return -1;
  const auto number = static_cast<std::int64_t>(target);
  return static_cast<Result>(number) == target && number < classes ? number : -1;
}

}  // namespace tessera::mathematics
