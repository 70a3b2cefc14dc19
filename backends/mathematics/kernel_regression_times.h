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
  double launches;        ///< all of a run's
  double pass;            ///< 256 rows of a query that are searched and weighed
  double number_of_pass;  ///< what each output and class adds to that
  double number;          ///< each output and class, however few rows there are
  double queries;         ///< so many are added up beside each other
  double column;          ///< of 256 rows, each by a thread, on every multiprocessor
  double least_column;    ///< of a group that has all rows of a query, however few: what a thread waits for
  double column_of_many;  ///< what that adds where caches do not hold the training set
};

/// What of a problem runs beside each other: groups of so many rows, or all rows of a query by one group of 256.
struct RegressionGroups {
  std::int64_t rows;
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

/// Threads read rows that lie far apart: where these begin at multiples of a cache's lines, or of its sectors, they
/// displace each other.
[[nodiscard]] inline double regression_row_conflicts(std::int64_t row_bytes) noexcept {
  return row_bytes % 128 == 0 ? 2.1 : row_bytes % 32 == 0 ? 1.22 : 1;
}

/// Groups come in waves; each takes as long as a thread has columns to read.
[[nodiscard]] inline double regression_time_by_rows(const KernelRegression& problem, const RegressionRowTimes& times,
                                                    const RegressionGroups& groups) noexcept {
  constexpr double kRowsOfPass = 256, kRowsOfWarp = 32, kOfDouble = 1.25, kManyBytes = 2.5e6;
  const std::int64_t row_bytes = problem.columns * static_cast<std::int64_t>(size_bytes(problem.type));
  const auto rows = static_cast<double>(problem.training_rows);
  const auto queries = static_cast<double>(problem.queries);
  const auto numbers = static_cast<double>(problem.outputs + problem.classes);
  const double passes = std::ceil(rows / kRowsOfPass);
  const auto rows_of_group = static_cast<double>(groups.rows);
  const double of_query = groups.is_one_a_query ? 1 : std::ceil(rows / rows_of_group);
  const double waves = std::ceil(of_query * queries / static_cast<double>(groups.multiprocessors));
  const double columns_read = (groups.is_one_a_query ? passes : 1) * static_cast<double>(problem.columns);
  // Warps without a row are gone at once.
  const double read_rows =
      groups.is_one_a_query ? std::min(std::ceil(rows / kRowsOfWarp) * kRowsOfWarp, rows_of_group) : rows_of_group;
  const double of_groups = waves * read_rows / kRowsOfPass * times.column;
  const double column = (groups.is_one_a_query ? std::max(of_groups, times.least_column) : of_groups) +
                        std::min(rows * static_cast<double>(row_bytes) / kManyBytes, 1.0) * times.column_of_many;
  const double type = problem.type == DataType::float64 ? kOfDouble : 1;
  const double distances = columns_read * column * type * regression_row_conflicts(row_bytes);
  const double sums = passes * (times.pass + numbers * times.number_of_pass) + numbers * times.number;
  return times.launches + distances + sums * std::max(1.0, queries / times.queries);
}

/// A group meets the rows of a block one after the other, however few queries it has; to that comes what a full device
/// takes for pairs and products.
[[nodiscard]] inline double regression_time_of_tiles(const KernelRegression& problem, const RegressionTileTimes& times,
                                                     std::int64_t rows_of_block) noexcept {
  const auto rows = static_cast<double>(problem.training_rows);
  const auto columns = static_cast<double>(problem.columns);
  const auto others = static_cast<double>(problem.outputs + problem.classes - 1);
  const auto block_rows = static_cast<double>(rows_of_block);
  const double met = std::min(rows, block_rows);
  const double of_row = times.row + (problem.outputs > 1 ? times.row_of_outputs : 0) +
                        (problem.classes > 0 ? times.row_of_classes : 0) + others * times.number_of_row;
  const double pairs = rows * static_cast<double>(problem.queries);
  return times.launches + std::ceil(rows / block_rows) * times.block + met * (of_row + columns * times.column) +
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
