// What kernel_regression must give: plain loops in long double with the nearest row's exponent taken off, and a derived
// bound. Nobody optimises this; it shares no code with any backend.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "conformance/compare.h"
#include "conformance/kernel_regression/kernel_regression_errors.h"

namespace tessera::conformance {

/// The type of targets and results for rows of T, and that of nearest_squared.
template <class T>
using RegressionResult = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
using RegressionSquared = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T>;

/// A kernel_regression with its operands in host memory.
template <class T>
struct RegressionInputs {
  KernelRegression problem;
  std::span<const T> queries;
  std::span<const T> training;
  std::span<const RegressionResult<T>> targets;
};

/// What one query's results must be.
struct RegressionExpected {
  std::vector<Expected> values;
  std::vector<Expected> votes;
  Expected neighbours;
  Expected nearest_squared;
  std::int64_t nearest_row = -1;  ///< the lowest of those with the least D; -1: no row has a part
  /// Root mean squares that the errors of random rows may have: of a query's first value, and of nearest_squared. 0:
  /// not known.
  double value_spread = 0;
  double squared_spread = 0;
};

template <class T>
class RegressionOracle {
 public:
  /// `inputs` must live as long. `draw`: of queries and training rows.
  explicit RegressionOracle(const RegressionInputs<T>& inputs, Draw draw = Draw::chosen);

  [[nodiscard]] RegressionDistances distances(std::int64_t query) const;
  /// What a kernel of this error factor must give.
  [[nodiscard]] RegressionExpected expected(const RegressionDistances& distances, double error_factor) const;
  /// May a kernel of this error factor take this row for the nearest?
  [[nodiscard]] bool may_be_nearest(const RegressionDistances& distances, std::int64_t row, double error_factor) const;

 private:
  [[nodiscard]] long double squared_length(std::span<const T> row, bool from_centre) const;
  [[nodiscard]] bool has_part(std::span<const T> row) const;

  RegressionInputs<T> inputs_;
  Draw draw_;
  std::vector<long double> centre_;
  std::vector<long double> lengths_;        // of training rows from the centre; infinite where the row has no part
  std::vector<long double> largest_;        // squares of their elements, from the centre
  std::vector<long double> first_targets_;  // of training rows
};

extern template class RegressionOracle<float>;
extern template class RegressionOracle<double>;
extern template class RegressionOracle<std::uint8_t>;

}  // namespace tessera::conformance
