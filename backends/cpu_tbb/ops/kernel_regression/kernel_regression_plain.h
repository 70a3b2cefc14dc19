// The definition of kernel_regression written down as loops; sequential and naive differ only in who runs them.
//
//   training set                 distances     A query is compared with every training row, number by number; its
//   +-------------+              +---+         distances are kept. The least of them is then known, so each row gets
//   | row 0       |  - query ->  | D |  min    its weight relative to the nearest, once, and is added to the sums. A
//   | row 1       |              | D |   |     training row is read once for each query.
//   | ...         |              | . |   v
//   +-------------+              +---+  exp -> sums -> results
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "mathematics/kernel_regression_slab.h"
#include "mathematics/kernel_regression_weight.h"
#include "ops/kernel_regression/kernel_regression_operands.h"

namespace tessera::cpu_tbb {

/// The sum of squared differences; infinite if one of the rows holds what is not finite, or is too long.
template <class T>
[[nodiscard]] typename RegressionOperands<T>::Squared regression_distance(const T* query, const T* row,
                                                                          std::int64_t columns) noexcept {
  using Squared = typename RegressionOperands<T>::Squared;
  Squared sum = 0;
  Squared length = 0;
  Squared query_length = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    const Squared difference = static_cast<Squared>(query[j]) - static_cast<Squared>(row[j]);
    sum += difference * difference;
    if constexpr (std::is_floating_point_v<T>) {
      length += row[j] * row[j];
      query_length += query[j] * query[j];
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(length) || !std::isfinite(query_length)) return std::numeric_limits<T>::infinity();
  }
  return sum;
}

/// Writes what a query gets that no training row has a part in.
template <class T>
void write_no_result(const RegressionOperands<T>& regression, std::int64_t query) noexcept {
  const KernelRegression& p = regression.problem;
  using Result = typename RegressionOperands<T>::Result;
  constexpr Result kNan = std::numeric_limits<Result>::quiet_NaN();
  std::fill_n(regression.values + query * p.outputs, p.outputs, kNan);
  if (regression.votes != nullptr) std::fill_n(regression.votes + query * p.classes, p.classes, kNan);
  if (regression.nearest_row != nullptr) regression.nearest_row[query] = -1;
  if constexpr (std::is_floating_point_v<T>) {
    if (regression.nearest_squared != nullptr) regression.nearest_squared[query] = kNan;
  }
  if (regression.neighbours != nullptr) regression.neighbours[query] = kNan;
}

/// The results of one query, whose distances from all rows are known, and the nearest.
template <class T>
void write_results(const RegressionOperands<T>& regression, std::int64_t query,
                   const typename RegressionOperands<T>::Squared* distances, std::int64_t nearest) noexcept {
  const KernelRegression& p = regression.problem;
  using Result = typename RegressionOperands<T>::Result;
  const mathematics::RegressionWeight<Result> weight_of(p);
  Result* const values = regression.values + query * p.outputs;
  Result* const votes = regression.votes == nullptr ? nullptr : regression.votes + query * p.classes;
  std::fill_n(values, p.outputs, Result(0));
  if (votes != nullptr) std::fill_n(votes, p.classes, Result(0));
  Result sum = 0;
  Result squares = 0;
  for (std::int64_t row = 0; row < p.training_rows; ++row) {
    const Result weight = weight_of(distances[row], distances[nearest]);
    if (weight == 0) continue;
    sum += weight;
    squares += weight * weight;
    const Result* const targets = regression.targets + row * p.outputs;
    for (std::int64_t r = 0; r < p.outputs; ++r) values[r] += weight * targets[r];
    if (votes == nullptr) continue;
    const std::int64_t number = mathematics::regression_class(targets[0], p.classes);
    if (number >= 0) votes[number] += weight;
  }
  for (std::int64_t r = 0; r < p.outputs; ++r) values[r] /= sum;
  if (regression.nearest_row != nullptr) regression.nearest_row[query] = nearest;
  if (regression.nearest_squared != nullptr) regression.nearest_squared[query] = distances[nearest];
  if (regression.neighbours != nullptr) regression.neighbours[query] = sum * sum / squares;
}

/// Queries [first, last). `distances` has room for one from each training row.
template <class T>
void regress(const RegressionOperands<T>& regression, std::int64_t first, std::int64_t last,
             typename RegressionOperands<T>::Squared* distances) noexcept {
  const KernelRegression& p = regression.problem;
  for (std::int64_t query = first; query < last; ++query) {
    for (std::int64_t row = 0; row < p.training_rows; ++row) {
      distances[row] =
          regression_distance(regression.queries + query * p.columns, regression.training + row * p.columns, p.columns);
    }
    const std::int64_t nearest = std::min_element(distances, distances + p.training_rows) - distances;
    bool has_part = true;
    if constexpr (std::is_floating_point_v<T>) has_part = std::isfinite(distances[nearest]);
    has_part ? write_results(regression, query, distances, nearest) : write_no_result(regression, query);
  }
}

}  // namespace tessera::cpu_tbb
