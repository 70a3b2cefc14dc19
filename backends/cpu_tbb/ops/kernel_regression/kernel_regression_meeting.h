// A query meets training rows: its dot products with some of them become distances, and those that are near enough to
// count, of which with a large order there are few, are added to its state. For all variants that compute with T.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/kernel_regression/kernel_regression_fold.h"
#include "ops/kernel_regression/kernel_regression_reach.h"
#include "ops/kernel_regression/kernel_regression_state.h"

namespace tessera::cpu_tbb {

template <class T>
class RegressionMeeting {
 public:
  explicit RegressionMeeting(const KernelRegression& problem)
      : problem_(problem), weight_of_(problem), reach_(problem) {}

  /// For joining states.
  [[nodiscard]] const mathematics::RegressionWeight<double>& weight_of() const noexcept { return weight_of_; }

  /// What is met: dot products with centred training rows, overwritten by distances, and what they are made from.
  struct Rows {
    T* dots = nullptr;
    const T* lengths = nullptr;  ///< of the rows; infinite where one has no part
    T* weights = nullptr;        ///< memory for as many
    std::int64_t first = 0;      ///< row of the training set
    std::int64_t count = 0;      ///< a multiple of kFoldStep
    const T* targets = nullptr;  ///< of the whole training set
  };
  /// `length`: of the query; infinite where it has no part.
  void meet(const Rows& rows, T length, const RegressionState& state) const {
    const T least = fold_distances(rows.dots, rows.lengths, length, rows.count);
    if (!std::isfinite(least)) return;
    if (static_cast<double>(least) < state.least()) {
      const std::int64_t nearest = std::find(rows.dots, rows.dots + rows.count, least) - rows.dots;
      state.approach(static_cast<double>(least), rows.first + nearest, weight_of_);
    }
    const double furthest = std::min(reach_.beyond(state.least()) * (1 + 4 * std::numeric_limits<T>::epsilon()),
                                     static_cast<double>(std::numeric_limits<T>::max()));
    if (static_cast<double>(least) > furthest) return;
    fold_weights<T>({.is_euclidean = reach_.is_euclidean(),
                     .factor = reach_.factor(),
                     .least = static_cast<T>(state.least()),
                     .furthest = static_cast<T>(furthest)},
                    rows.dots, rows.count, rows.weights);
    if (problem_.outputs == 1 && problem_.classes == 0) {
      const std::int64_t existing = std::min(rows.count, problem_.training_rows - rows.first);
      state.add(fold_sums(rows.weights, rows.targets + rows.first, existing));
      return;
    }
    for_each_weight(rows.weights, rows.count, [&](std::int64_t i) {
      state.add(static_cast<double>(rows.weights[i]), rows.targets + (rows.first + i) * problem_.outputs);
    });
  }

 private:
  KernelRegression problem_;
  mathematics::RegressionWeight<double> weight_of_;
  RegressionReach<T> reach_;
};

}  // namespace tessera::cpu_tbb
