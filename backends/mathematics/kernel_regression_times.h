// kernel_regression: what a GPU takes for a problem by rows and by tiles, as far as choosing among variants needs it.
// Backends bring the microseconds, fitted on an H100 or H200; another GPU's differ, but all of them together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include <tessera/ops/kernel_regression.h>

#include "backend/sentence.h"
#include "backend/variant.h"

namespace tessera::mathematics {

/// What variants take that compare a query with one row after the other, and then add up by a group a query.
struct RegressionRowTimes {
  double launches;         ///< a run at least: what a queue takes to accept its launches
  double start;            ///< of all launches, before and between what follows
  double column;           ///< of a row, which its thread waits for where a multiprocessor has few
  double unaligned;        ///< how many times that, where rows do not begin at multiples of 16 bytes
  double of_memory;        ///< how many times as much is added to that where caches do not hold the training set
  double column_of_warps;  ///< of 64 rows, where a multiprocessor has many
  double pass;             ///< 256 rows of a query that are searched and weighed
  double number_of_pass;   ///< what each output and class adds to that
  double number;           ///< each output and class, however few rows there are
  double queries;          ///< so many are added up beside each other
};

/// What of a problem runs beside each other: rows of all queries, or all rows of a query by one group of 256.
struct RegressionGroups {
  bool is_one_a_query;
  std::int64_t multiprocessors;
};

/// What variants by tiles take.
struct RegressionTileTimes {
  double launches;         ///< all of a run's
  double row;              ///< a group meets one row of its block, of no columns
  double row_of_outputs;   ///< what a query adds to that which has several outputs
  double row_of_classes;   ///< what one adds that has classes
  double number_of_row;    ///< and what each output and class but the first does
  double column;           ///< what each column adds to a row
  double pair;             ///< a query and a row, where the device is full
  double pair_of_many;     ///< what a pair adds to that which has more than one sum
  double products_per_us;  ///< where the device is full
  double block;            ///< each block of rows whose state is joined
};

/// A group meets the rows of a block, tile by tile; the columns of a tile's rows that do not exist take as long.
struct RegressionTileRows {
  std::int64_t block;
  std::int64_t tile = 1;
};

/// How long a full multiprocessor takes for a column of rows that lie so many bytes apart. A warp's threads read 32 of
/// them: where these begin at multiples of a cache's lines, or of its sectors, they displace each other; other short
/// ones share lines.
[[nodiscard]] inline double regression_row_conflicts(std::int64_t row_bytes) noexcept {
  constexpr std::int64_t kLine = 128, kSector = 32;
  if (row_bytes % kLine == 0) return 2.3;
  if (row_bytes % kSector == 0) return 1.3;
  return std::clamp(static_cast<double>(row_bytes) / kLine, 0.5, 1.0);
}

/// Where a multiprocessor has few rows it waits for each column of them, where it has many it is busy with them.
[[nodiscard]] inline double regression_time_by_rows(const KernelRegression& problem, const RegressionRowTimes& times,
                                                    const RegressionGroups& groups) noexcept {
  constexpr double kRowsOfPass = 256, kRowsOfWarp = 32, kRowsOfWarps = 64, kOfDouble = 1.2;
  // Through CUDA and OpenCL, with 116 to 1624 rows and 10 to 29 queries, 1.6 to 1.9.
  constexpr double kWaitedOfDouble = 1.6;
  constexpr std::int64_t kAligned = 16;
  constexpr double kCachedBytes = 1.65e6, kUncachedBytes = 2.65e6;
  const std::int64_t row_bytes = problem.columns * static_cast<std::int64_t>(size_bytes(problem.type));
  const auto rows = static_cast<double>(problem.training_rows);
  const auto queries = static_cast<double>(problem.queries);
  const auto columns = static_cast<double>(problem.columns);
  const auto multiprocessors = static_cast<double>(groups.multiprocessors);
  const auto numbers = static_cast<double>(problem.outputs + problem.classes);
  const double passes = std::ceil(rows / kRowsOfPass);
  const double beyond =
      std::clamp((rows * static_cast<double>(row_bytes) - kCachedBytes) / (kUncachedBytes - kCachedBytes), 0.0, 1.0);
  const double waited = (groups.is_one_a_query ? passes : 1) * times.column *
                        (row_bytes % kAligned == 0 ? 1 : times.unaligned) * (1 + beyond * times.of_memory) *
                        (problem.type == DataType::float64 ? kWaitedOfDouble : 1);
  // In 64 rows; warps without a row are gone at once.
  const double of_multiprocessor =
      groups.is_one_a_query
          ? std::ceil(rows / kRowsOfWarp) * kRowsOfWarp / kRowsOfWarps * std::ceil(queries / multiprocessors)
          : std::ceil(std::ceil(rows / kRowsOfWarps) * queries / multiprocessors);
  const double busy = of_multiprocessor * times.column_of_warps * regression_row_conflicts(row_bytes) *
                      (problem.type == DataType::float64 ? kOfDouble : 1);
  const double sums = passes * (times.pass + numbers * times.number_of_pass) + numbers * times.number;
  return std::max(times.launches,
                  times.start + columns * std::max(waited, busy) + sums * std::max(1.0, queries / times.queries));
}

/// A group meets the rows of a block one after the other, however few queries it has; to that comes what a full device
/// takes for pairs and products.
[[nodiscard]] inline double regression_time_of_tiles(const KernelRegression& problem, const RegressionTileTimes& times,
                                                     const RegressionTileRows& tile_rows) noexcept {
  const auto rows = static_cast<double>(problem.training_rows);
  const auto columns = static_cast<double>(problem.columns);
  const auto others = static_cast<double>(problem.outputs + problem.classes - 1);
  const auto block_rows = static_cast<double>(tile_rows.block), rows_of_tile = static_cast<double>(tile_rows.tile);
  const double met = std::min(rows, block_rows);
  const double of_row = times.row + (problem.outputs > 1 ? times.row_of_outputs : 0) +
                        (problem.classes > 0 ? times.row_of_classes : 0) + others * times.number_of_row;
  const double pairs = rows * static_cast<double>(problem.queries);
  return times.launches + std::ceil(rows / block_rows) * times.block + met * of_row +
         std::ceil(met / rows_of_tile) * rows_of_tile * columns * times.column +
         pairs * (times.pair + (others > 0 ? times.pair_of_many : 0) + columns / times.products_per_us);
}

/// A variant and the microseconds that it is expected to take.
struct RegressionExpected {
  std::string_view variant;
  double us;
};

/// Does this variant pay: is none of all that are expected to take less time? One without a model pays.
[[nodiscard]] inline backend::Verdict regression_is_fastest(const KernelRegression& problem, std::string_view variant,
                                                            std::span<const RegressionExpected> all) {
  const auto mine = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.variant == variant; });
  const auto least =
      std::min_element(all.begin(), all.end(), [](const auto& one, const auto& other) { return one.us < other.us; });
  if (mine == all.end() || mine->us <= least->us) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence(
      "kernel_regression of ", problem.training_rows, " x ", problem.columns, " training numbers has ", problem.queries,
      problem.queries == 1 ? " query" : " queries", ", for which an estimate is ", std::llround(mine->us), " us by ",
      variant, ", and ", std::llround(least->us), " by ", least->variant));
}

}  // namespace tessera::mathematics
