// Preparing a training set for variants that multiply.
#include "ops/kernel_regression/kernel_regression_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
RegressionRows<T>::RegressionRows(std::int64_t rows, std::int64_t columns)
    : RegressionRows(rows, EqualParts::of_at_most(columns, kRegisterDepth<T>), register_tile<T>().columns) {}

template <class T>
RegressionRows<T> RegressionRows<T>::row_by_row(std::int64_t rows, std::int64_t columns) {
  return RegressionRows(rows, {.whole = columns, .parts = 1}, 1);
}

template <class T>
RegressionRows<T>::RegressionRows(std::int64_t rows, EqualParts steps, std::int64_t width)
    : rows_(rows),
      steps_(steps),
      width_(width),
      padded_rows_(mathematics::ceil_div(rows, kRegressionBlock) * kRegressionBlock),
      lengths_offset_(to_lines<T>(steps.whole)),
      slivers_offset_(lengths_offset_ + padded_rows_) {}

template <class T>
std::size_t RegressionRows<T>::size_bytes() const noexcept {
  return static_cast<std::size_t>(slivers_offset_ + padded_rows_ * columns()) * sizeof(T);
}

/// The mean of the rows that count, block after block, so that it does not depend on the threads.
template <class T>
void RegressionRows<T>::find_centre(Executor& executor, const T* raw, T* centre) const {
  const std::int64_t blocks = mathematics::ceil_div(rows_, kRegressionBlock);
  const std::int64_t step = columns() + 1;  // behind the columns' sums the number of rows
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(blocks * step) * sizeof(double));
  double* const sums = reinterpret_cast<double*>(loan.data());
  executor.parallel_for(blocks, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      double* const sum = sums + block * step;
      std::fill_n(sum, step, 0.0);
      const std::int64_t end = std::min(rows_, (block + 1) * kRegressionBlock);
      for (std::int64_t row = block * kRegressionBlock; row < end; ++row) {
        const T* const numbers = raw + row * columns();
        if (!regression_row_counts(numbers, columns())) continue;
        for (std::int64_t j = 0; j < columns(); ++j) sum[j] += static_cast<double>(numbers[j]);
        sum[columns()] += 1;
      }
    }
  });
  for (std::int64_t block = 1; block < blocks; ++block) {
    for (std::int64_t j = 0; j < step; ++j) sums[j] += sums[block * step + j];
  }
  for (std::int64_t j = 0; j < columns(); ++j) {
    const double mean = sums[j] / std::max(sums[columns()], 1.0);
    centre[j] = std::isfinite(mean) ? static_cast<T>(mean) : T(0);
  }
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
  executor.parallel_for(padded_rows_ / width_, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t sliver = first; sliver < last; ++sliver) pack_sliver(raw, sliver * width_, prepared);
  });
}

template class RegressionRows<float>;
template class RegressionRows<double>;
template bool regression_row_counts(const float*, std::int64_t) noexcept;
template bool regression_row_counts(const double*, std::int64_t) noexcept;

}  // namespace tessera::cpu_tbb
