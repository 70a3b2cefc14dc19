// kernel_regression: what a GPU takes for a problem by a plain variant and by tiles, as far as choosing between them
// needs it. Microseconds of an H100, fitted to 20 random problems without a committed file; another GPU's differ, but
// all of them together.
#pragma once

#include <algorithm>
#include <cmath>

#include <tessera/ops/kernel_regression.h>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"

namespace tessera::mathematics {

/// What variants by tiles take beside what all problems have in common.
struct RegressionTileTimes {
  double launches;         ///< all of a run's
  double row;              ///< a group meets one row of its block, of no columns
  double row_of_many;      ///< the same where a query has more than one sum
  double column;           ///< what each column adds to that
  double pair;             ///< a query and a row, where the device is full
  double products_per_us;  ///< where the device is full
};

[[nodiscard]] inline bool has_many_sums(const KernelRegression& problem) noexcept {
  return problem.outputs + problem.classes > 1;
}

/// A thread a row and query, then sums by a group a query. Few threads wait for their columns one after the other.
[[nodiscard]] inline double regression_time_of_naive(const KernelRegression& problem) noexcept {
  constexpr double kLaunches = 12, kColumn = 0.2, kProducts = 0.45e6;
  const double row_of_sums = problem.type == DataType::float64 ? 0.003 : 0.001;
  const auto rows = static_cast<double>(problem.training_rows);
  const auto columns = static_cast<double>(problem.columns);
  const double products = rows * columns * static_cast<double>(problem.queries);
  return kLaunches + std::max(products / kProducts, columns * kColumn) + rows * row_of_sums;
}

/// A group meets the rows of a block one after the other, however few queries it has; a full device takes as long as
/// its pairs and products do.
[[nodiscard]] inline double regression_time_of_tiles(const KernelRegression& problem,
                                                     const RegressionTileTimes& times) noexcept {
  const auto rows = static_cast<double>(problem.training_rows);
  const auto columns = static_cast<double>(problem.columns);
  const double met = std::min(rows, static_cast<double>(regression_block_rows(problem)));
  const double block = met * ((has_many_sums(problem) ? times.row_of_many : times.row) + columns * times.column);
  const double pairs = rows * static_cast<double>(problem.queries);
  return times.launches + std::max(block, pairs * (times.pair + columns / times.products_per_us));
}

[[nodiscard]] inline backend::Verdict regression_pays_in_tiles(const KernelRegression& problem,
                                                               const RegressionTileTimes& times) {
  const double naive = regression_time_of_naive(problem), tiles = regression_time_of_tiles(problem, times);
  if (tiles <= naive) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence(
      "kernel_regression of ", problem.training_rows, " x ", problem.columns, " training numbers has ", problem.queries,
      problem.queries == 1 ? " query" : " queries", ", too few for tiles: an estimate is ", std::llround(tiles),
      " us, and ", std::llround(naive), " without"));
}

/// A group a query leaves multiprocessors idle where queries are fewer than they; few training rows take it less time
/// than a second launch. On an H100 naive was up to five times as fast with 10 queries of many rows, and one_kernel
/// twice with 70 rows (without a committed file).
[[nodiscard]] inline backend::Verdict regression_pays_in_one_kernel(const KernelRegression& problem,
                                                                    std::int64_t multiprocessors) {
  constexpr std::int64_t kFewRows = 1024;
  if (problem.queries >= multiprocessors || problem.training_rows <= kFewRows) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("kernel_regression has ", problem.queries,
                                                " queries, but the device has ", multiprocessors,
                                                " units for a group each"));
}

}  // namespace tessera::mathematics
