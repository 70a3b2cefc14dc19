// kernel_regression: which variants go on from a slab of the training set to the next, and the blocks of rows that both
// slabs and the whole set are made of.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/ops/kernel_regression.h>

#include "backend/variant.h"

namespace tessera::mathematics {

/// Training rows whose state is one, the most and the least of rows of a type; tiles of that type have a divisor of
/// both.
inline constexpr std::int64_t kMostRegressionBlockRows = 2048;
[[nodiscard]] constexpr std::int64_t least_regression_block_rows(DataType type) noexcept {
  return type == DataType::float64 ? 64 : type == DataType::float32 ? 128 : 256;
}
static_assert(KernelRegression::kSlabRows % kMostRegressionBlockRows == 0,
              "blocks of a slab are blocks of the whole set");

/// Blocks are counted from row 0, and are as long as the whole set says: neither slabs nor tiles nor queries may change
/// a bit. Small sets have many, so that devices are filled where queries are few: a group meets the rows of a block one
/// after the other. Where there are as many as this says, what joins them takes longer than more of them would save;
/// where rows have many columns, that is later; where they have few, a row is soon met, and with many queries the
/// joining counts. `least`: rows of a block. On an H100 35637 x 391 in float32 with one query take 131 us in blocks of
/// 2048 rows and 80 in blocks of 1024, 42286 x 256 bytes with 21 queries 44 and 35; 60000 x 784 with 1,000 queries 502
/// and 524. In float32 6443 x 5 with 855 queries take 48 us in blocks of 128 rows and 37 in blocks of 512, 6777 x 12
/// with 12 queries 23 and 25; without a committed file.
[[nodiscard]] inline std::int64_t regression_block_rows(const KernelRegression& problem, std::int64_t least) noexcept {
  constexpr std::int64_t kSmallSet = 32768, kManyColumns = 256, kLongestOfSmallSet = 512;
  constexpr std::int64_t kMiddleSet = 49152, kOfMiddleSet = 1024;
  constexpr std::int64_t kFewColumns = 16, kFewRows = 4096;
  const std::int64_t most_blocks = problem.columns < kManyColumns ? 64 : 80;
  const std::int64_t rows = problem.is_slab ? problem.set_rows : problem.training_rows;
  if (rows == 0 || rows > kMiddleSet) return kMostRegressionBlockRows;
  if (rows > kSmallSet) return kOfMiddleSet;
  std::int64_t block = least;
  if (problem.type == DataType::float32 && problem.columns <= kFewColumns && rows > kFewRows) {
    block = std::max(block, kLongestOfSmallSet);
  }
  while (block < kLongestOfSmallSet && block * most_blocks < rows) block *= 2;
  return block;
}
[[nodiscard]] inline std::int64_t regression_block_rows(const KernelRegression& problem) noexcept {
  return regression_block_rows(problem, least_regression_block_rows(problem.type));
}

/// For variants that know all distances before they take the first weight.
[[nodiscard]] inline backend::Verdict check_regression_is_whole(const KernelRegression& problem) {
  if (!problem.is_slab) return backend::Verdict::yes();
  return backend::Verdict::no(
      "kernel_regression is given a slab of its training set, but takes the least of all distances before the first "
      "weight");
}

}  // namespace tessera::mathematics
