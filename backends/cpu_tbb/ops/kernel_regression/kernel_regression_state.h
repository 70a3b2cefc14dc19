// What a query needs to know of the training rows that it has met: the least distance, and relative to it the sums.
// States of blocks of rows are joined from the first block to the last, so that the bits do not depend on who computed
// them (decision 0016). A slab of a training set goes on from the state that the slabs before it have left (0018):
//
//   in `before` and `after`, for each query:   rows met so far | least | row | sum w | sum w^2 | sums
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mathematics/kernel_regression_weight.h"
#include "ops/kernel_regression/kernel_regression_operands.h"

namespace tessera::cpu_tbb {

/// Training rows that queries meet at a time, and a multiple of which a prepared set holds.
inline constexpr std::int64_t kRegressionPart = 256;

/// Of some rows' weights the sum, the sum of squares, and the sum with their first targets.
struct RegressionWeights {
  double sum = 0;
  double squares = 0;
  double output = 0;
};

/// A state in memory that others own: a row of numbers, in double whatever the results' type.
class RegressionState {
 public:
  [[nodiscard]] static std::int64_t size(const KernelRegression& p) noexcept { return kSums + p.outputs + p.classes; }

  RegressionState(const KernelRegression& problem, double* numbers) noexcept : problem_(problem), numbers_(numbers) {}

  /// As it is before a run's first row: no row met, or what the slabs before have left. Rows are counted in the slab,
  /// those of slabs before it are negative.
  template <class T>
  void begin(const RegressionOperands<T>& regression, std::int64_t query) const noexcept {
    clear();
    const std::int64_t met = rows_before(regression, query);
    if (met == 0) return;
    std::copy_n(regression.before + query * problem_.state_numbers() + 1, size(problem_), numbers_);
    if (has_met()) numbers_[kRow] -= static_cast<double>(met);
  }
  /// No row met.
  void clear() const noexcept {
    std::fill_n(numbers_, size(problem_), 0.0);
    numbers_[kLeast] = std::numeric_limits<double>::infinity();
    numbers_[kRow] = -1;
  }
  [[nodiscard]] bool has_met() const noexcept { return std::isfinite(numbers_[kLeast]); }
  [[nodiscard]] double least() const noexcept { return numbers_[kLeast]; }
  /// A double holds every row's number below 2^53.
  [[nodiscard]] std::int64_t row() const noexcept { return static_cast<std::int64_t>(numbers_[kRow]); }
  /// A nearer row than all before, which is not added yet.
  void approach(double least, std::int64_t row, const mathematics::RegressionWeight<double>& weight_of) const noexcept {
    if (has_met()) scale(weight_of(numbers_[kLeast], least));
    numbers_[kLeast] = least;
    numbers_[kRow] = static_cast<double>(row);
  }
  /// A row of this weight.
  template <class Result>
  void add(double weight, const Result* targets) const noexcept {
    numbers_[kSum] += weight;
    numbers_[kSquares] += weight * weight;
    double* const values = numbers_ + kSums;
    for (std::int64_t r = 0; r < problem_.outputs; ++r) values[r] += weight * static_cast<double>(targets[r]);
    if (problem_.classes == 0) return;
    const std::int64_t number = mathematics::regression_class(targets[0], problem_.classes);
    if (number >= 0) values[problem_.outputs + number] += weight;
  }
  /// Rows of these weights and first targets, where there is no other sum.
  void add(const RegressionWeights& rows) const noexcept {
    numbers_[kSum] += rows.sum;
    numbers_[kSquares] += rows.squares;
    numbers_[kSums] += rows.output;
  }
  /// The rows of another state, which come behind this one's.
  void join(const RegressionState& other, const mathematics::RegressionWeight<double>& weight_of) const noexcept {
    if (!other.has_met()) return;
    if (!has_met()) {
      std::copy_n(other.numbers_, size(problem_), numbers_);
      return;
    }
    double weight = 1;
    if (other.least() < least()) {
      approach(other.least(), other.row(), weight_of);
    } else {
      weight = weight_of(other.least(), least());
    }
    // A sum that is not finite stays out where it has no part.
    if (weight == 0) return;
    numbers_[kSum] += weight * other.numbers_[kSum];
    numbers_[kSquares] += weight * weight * other.numbers_[kSquares];
    for (std::int64_t i = kSums; i < size(problem_); ++i) numbers_[i] += weight * other.numbers_[i];
  }

  /// Writes the query's results, NaN if no row was met; and of a slab the state, for the next.
  template <class T>
  void write(const RegressionOperands<T>& regression, std::int64_t query) const noexcept {
    const std::int64_t first_row = rows_before(regression, query);
    if (has_met()) numbers_[kRow] += static_cast<double>(first_row);
    if (problem_.is_slab) {
      double* const after = regression.after + query * problem_.state_numbers();
      after[0] = static_cast<double>(first_row + problem_.training_rows);
      std::copy_n(numbers_, size(problem_), after + 1);
    }
    using Result = typename RegressionOperands<T>::Result;
    using Squared = typename RegressionOperands<T>::Squared;
    const double none = std::numeric_limits<double>::quiet_NaN();
    const bool met = has_met();
    const double* const values = numbers_ + kSums;
    for (std::int64_t r = 0; r < problem_.outputs; ++r) {
      regression.values[query * problem_.outputs + r] = static_cast<Result>(met ? values[r] / numbers_[kSum] : none);
    }
    for (std::int64_t c = 0; c < problem_.classes; ++c) {
      regression.votes[query * problem_.classes + c] = static_cast<Result>(met ? values[problem_.outputs + c] : none);
    }
    if (problem_.nearest) {
      regression.nearest_row[query] = row();
      regression.nearest_squared[query] = static_cast<Squared>(met ? numbers_[kLeast] : none);
    }
    if (problem_.neighbours) {
      regression.neighbours[query] =
          static_cast<Result>(met ? numbers_[kSum] * numbers_[kSum] / numbers_[kSquares] : none);
    }
  }

 private:
  enum Place : std::int64_t { kLeast, kRow, kSum, kSquares, kSums };

  /// Rows that the slabs before this one had.
  template <class T>
  [[nodiscard]] std::int64_t rows_before(const RegressionOperands<T>& regression, std::int64_t query) const noexcept {
    return problem_.is_slab ? static_cast<std::int64_t>(regression.before[query * problem_.state_numbers()]) : 0;
  }

  /// Everything that was met is further away than the nearest row now. Where nothing of it is left, 0 takes its place,
  /// though it was not finite.
  void scale(double weight) const noexcept {
    const auto scaled = [&](double number, double by) { return by == 0 ? 0 : number * by; };
    numbers_[kSum] = scaled(numbers_[kSum], weight);
    numbers_[kSquares] = scaled(numbers_[kSquares], weight * weight);
    for (std::int64_t i = kSums; i < size(problem_); ++i) numbers_[i] = scaled(numbers_[i], weight);
  }

  const KernelRegression& problem_;
  double* numbers_;
};

}  // namespace tessera::cpu_tbb
