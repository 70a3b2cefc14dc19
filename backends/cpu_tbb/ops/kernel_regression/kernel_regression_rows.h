// A training set as variants compute with it that multiply: rows less their mean, in the slivers of gemm's register
// tile or one after the other, and their squared lengths.
//
//     | centre | lengths | step 0: sliver 0, sliver 1, ... | step 1: sliver 0, ... |
//
// The mean is that of the first KernelRegression::kCentreRows rows, as far as they have a part. A slab's raw rows have
// those of the whole training set before them (decision 0018).
//
// A sliver holds, for each column of its step, that column of as many rows as the register tile is wide. Row by row, a
// sliver is one row and all its columns are one step.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/ops/kernel_regression.h>

#include "cpu_tbb_executor.h"
#include "ops/cnn_layer/cnn_layer_panels.h"

namespace tessera::cpu_tbb {

template <class T>
class RegressionRows {
 public:
  /// In slivers.
  explicit RegressionRows(const KernelRegression& problem);
  [[nodiscard]] static RegressionRows row_by_row(const KernelRegression& problem);

  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] const EqualParts& steps() const noexcept { return steps_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return steps_.whole; }
  /// Of a sliver.
  [[nodiscard]] std::int64_t width() const noexcept { return width_; }

  [[nodiscard]] const T* centre(const T* prepared) const noexcept { return prepared; }
  /// Of every row, the last sliver's rows that do not exist too; infinite where a row has no part.
  [[nodiscard]] const T* lengths(const T* prepared) const noexcept { return prepared + lengths_offset_; }
  /// The sliver that begins with this row, a multiple of width().
  [[nodiscard]] const T* sliver(const T* prepared, std::int64_t step, std::int64_t row) const noexcept {
    return prepared + sliver_offset(step, row);
  }

  void prepare(Executor& executor, const T* raw, T* prepared) const;

 private:
  RegressionRows(const KernelRegression& problem, EqualParts steps, std::int64_t width);
  [[nodiscard]] std::int64_t sliver_offset(std::int64_t step, std::int64_t row) const noexcept {
    return slivers_offset_ + steps_.first(step) * padded_rows_ + row * steps_.size(step);
  }
  void find_centre(Executor& executor, const T* raw, T* centre) const;
  void pack_sliver(const T* raw, std::int64_t first, T* prepared) const;

  std::int64_t rows_;
  std::int64_t centre_rows_;  ///< raw rows before them
  EqualParts steps_;
  std::int64_t width_;
  std::int64_t padded_rows_;
  std::int64_t lengths_offset_;
  std::int64_t slivers_offset_;
};

/// Is a row's squared length a number that T holds? Others have no part.
template <class T>
[[nodiscard]] bool regression_row_counts(const T* row, std::int64_t columns) noexcept;

extern template class RegressionRows<float>;
extern template class RegressionRows<double>;

}  // namespace tessera::cpu_tbb
