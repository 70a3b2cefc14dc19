// kernel_regression: which variants go on from a slab of the training set to the next, and the blocks of rows that both
// slabs and the whole set are made of.
#pragma once

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
/// where rows have many columns, that is later. Beyond small sets shorter blocks were not measured. `least`: rows of a
/// block.
[[nodiscard]] inline std::int64_t regression_block_rows(const KernelRegression& problem, std::int64_t least) noexcept {
  constexpr std::int64_t kSmallSet = 32768, kManyColumns = 256, kLongestOfSmallSet = 512;
  const std::int64_t most_blocks = problem.columns < kManyColumns ? 64 : 80;
  const std::int64_t rows = problem.is_slab ? problem.set_rows : problem.training_rows;
  if (rows == 0 || rows > kSmallSet) return kMostRegressionBlockRows;
  std::int64_t block = least;
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
