// How far away a training row may be that still counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "mathematics/kernel_regression_weight.h"

namespace tessera::cpu_tbb {

/// How far away a row may be that weighs something beside the nearest, where weights are numbers of Result.
template <class Result>
class RegressionReach {
 public:
  explicit RegressionReach(const KernelRegression& problem)
      : is_euclidean_(problem.distance == Distance::euclidean),
        factor_(std::min(mathematics::regression_factor(problem),
                         static_cast<double>(std::numeric_limits<Result>::max()))) {}

  [[nodiscard]] bool is_euclidean() const noexcept { return is_euclidean_; }
  /// Of the exponent; finite in Result.
  [[nodiscard]] Result factor() const noexcept { return static_cast<Result>(factor_); }

  /// The squared distance beyond which a row weighs nothing beside one at `least`, but for the roundings here.
  [[nodiscard]] double beyond(double least) const noexcept {
    // exp(-x) is the smallest normal number.
    const double x = -std::log(static_cast<double>(std::numeric_limits<Result>::min()));
    const double reach = factor_ > 0 ? x / factor_ : std::numeric_limits<double>::infinity();
    return is_euclidean_ ? (std::sqrt(least) + reach) * (std::sqrt(least) + reach) : least + reach;
  }

 private:
  bool is_euclidean_;
  double factor_;
};

}  // namespace tessera::cpu_tbb
