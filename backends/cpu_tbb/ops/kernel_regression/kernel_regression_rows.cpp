// Preparing a training set for variants that multiply.
#include "ops/kernel_regression/kernel_regression_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mathematics/division.h"
#include "ops/kernel_regression/kernel_regression_state.h"

namespace tessera::cpu_tbb {

namespace {

/// Elements that a cache line may hold, so that what follows begins at one.
template <class T>
std::int64_t to_lines(std::int64_t elements) {
  return mathematics::ceil_div<std::int64_t>(elements, 64 / sizeof(T)) * static_cast<std::int64_t>(64 / sizeof(T));
}

}  // namespace

template <class T>
bool regression_row_counts(const T* row, std::int64_t columns) noexcept {
  T length = 0;
  for (std::int64_t j = 0; j < columns; ++j) length += row[j] * row[j];
  return std::isfinite(length);
}

template <class T>
RegressionRows<T>::RegressionRows(const KernelRegression& problem)
    : RegressionRows(problem, EqualParts::of_at_most(problem.columns, kRegisterDepth<T>), register_tile<T>().columns) {}

template <class T>
RegressionRows<T> RegressionRows<T>::row_by_row(const KernelRegression& problem) {
  return RegressionRows(problem, {.whole = problem.columns, .parts = 1}, 1);
}

template <class T>
RegressionRows<T>::RegressionRows(const KernelRegression& problem, EqualParts steps, std::int64_t width)
    : rows_(problem.training_rows),
      centre_rows_(problem.centre_rows()),
      steps_(steps),
      width_(width),
      padded_rows_(mathematics::ceil_div(rows_, kRegressionPart) * kRegressionPart),
      lengths_offset_(to_lines<T>(steps.whole)),
      slivers_offset_(lengths_offset_ + padded_rows_) {}

template <class T>
std::size_t RegressionRows<T>::size_bytes() const noexcept {
  return static_cast<std::size_t>(slivers_offset_ + padded_rows_ * columns()) * sizeof(T);
}

/// Each column's sum on one thread, from the first row to the last.
template <class T>
void RegressionRows<T>::find_centre(Executor& executor, const T* raw, T* centre) const {
  const std::int64_t rows = centre_rows_ != 0 ? centre_rows_ : std::min(KernelRegression::kCentreRows, rows_);
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(rows + columns()) * sizeof(double));
  double* const counts = reinterpret_cast<double*>(loan.data());
  double* const sums = counts + rows;
  executor.parallel_for(rows, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      counts[row] = regression_row_counts(raw + row * columns(), columns()) ? 1 : 0;
  });
  const double count = std::max(std::accumulate(counts, counts + rows, 0.0), 1.0);
  executor.parallel_for(columns(), [&](std::int64_t first, std::int64_t last) {
    std::fill(sums + first, sums + last, 0.0);
    for (std::int64_t row = 0; row < rows; ++row) {
      if (counts[row] == 0) continue;
      for (std::int64_t j = first; j < last; ++j) sums[j] += static_cast<double>(raw[row * columns() + j]);
    }
    for (std::int64_t j = first; j < last; ++j) {
      const double mean = sums[j] / count;
      centre[j] = std::isfinite(mean) ? static_cast<T>(mean) : T(0);
    }
  });
}

template <class T>
void RegressionRows<T>::pack_sliver(const T* raw, std::int64_t first, T* prepared) const {
  const T* const centre = prepared;
  for (std::int64_t lane = 0; lane < width_; ++lane) {
    const std::int64_t row = first + lane;
    const T* const numbers = raw + row * columns();
    const bool counts = row < rows_ && regression_row_counts(numbers, columns());
    T length = 0;
    for (std::int64_t step = 0; step < steps_.parts; ++step) {
      T* const sliver = prepared + sliver_offset(step, first) + lane;
      for (std::int64_t p = 0; p < steps_.size(step); ++p) {
        const std::int64_t j = steps_.first(step) + p;
        const T number = counts ? numbers[j] - centre[j] : T(0);
        sliver[p * width_] = number;
        length += number * number;
      }
    }
    prepared[lengths_offset_ + row] = counts ? length : std::numeric_limits<T>::infinity();
  }
}

template <class T>
void RegressionRows<T>::prepare(Executor& executor, const T* raw, T* prepared) const {
  find_centre(executor, raw, prepared);
  const T* const rows = raw + centre_rows_ * columns();
  executor.parallel_for(padded_rows_ / width_, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t sliver = first; sliver < last; ++sliver) pack_sliver(rows, sliver * width_, prepared);
  });
}

template class RegressionRows<float>;
template class RegressionRows<double>;
template bool regression_row_counts(const float*, std::int64_t) noexcept;
template bool regression_row_counts(const double*, std::int64_t) noexcept;

}  // namespace tessera::cpu_tbb
