// A row for each variant with a model. Times are microseconds of NVIDIA's OpenCL on H100 and H200, fitted to random
// problems and to series of them, in which only what takes up to a few hundred microseconds counts; without a
// committed file.
#include "ops/kernel_regression/kernel_regression_expected.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mathematics/kernel_regression_times.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::opencl {
namespace {

using mathematics::RegressionExpected;
using mathematics::RegressionRowTimes;
using mathematics::RegressionTileTimes;

/// By tiles of 32 queries, with which a group's own time counts, and of 64.
constexpr RegressionTileTimes kFusedFloat32Small{.launches = 24,
                                                 .row = 0.192,
                                                 .row_of_outputs = 0.13,
                                                 .row_of_classes = 0.155,
                                                 .number_of_row = 0.0135,
                                                 .column = 0.00057,
                                                 .pair = 0.5e-6,
                                                 .pair_of_many = 8.8e-6,
                                                 .products_per_us = 21.6e6,
                                                 .block = 0.15};
constexpr RegressionTileTimes kFusedFloat32Large{.launches = 21,
                                                 .row = 0.122,
                                                 .row_of_outputs = 0.16,
                                                 .row_of_classes = 0,
                                                 .number_of_row = 0.0175,
                                                 .column = 0.000487,
                                                 .pair = 33e-6,
                                                 .pair_of_many = 20e-6,
                                                 .products_per_us = 9e6,
                                                 .block = 0.08};
constexpr RegressionTileTimes kFusedFloat64{.launches = 19,
                                            .row = 0.235,
                                            .row_of_outputs = 0.05,
                                            .row_of_classes = 0.2,
                                            .number_of_row = 0.015,
                                            .column = 0.00042,
                                            .pair = 8e-6,
                                            .pair_of_many = 25e-6,
                                            .products_per_us = 73e6,
                                            .block = 0.14};
constexpr RegressionTileTimes kFusedSplit{.launches = 19,
                                          .row = 0.012,
                                          .row_of_outputs = 0.19,
                                          .row_of_classes = 0.12,
                                          .number_of_row = 0.002,
                                          .column = 0.0003,
                                          .pair = 5e-6,
                                          .pair_of_many = 9e-6,
                                          .products_per_us = 50e6,
                                          .block = 0.1};
/// Of bytes, small sets alone: beyond, what compares row by row is far behind.
constexpr RegressionTileTimes kTensor{.launches = 22.5,
                                      .row = 0.004,
                                      .row_of_outputs = 0,
                                      .row_of_classes = 0,
                                      .number_of_row = 0,
                                      .column = 0.00003,
                                      .pair = 0.5e-6,
                                      .pair_of_many = 0,
                                      .products_per_us = 500e6,
                                      .block = 0};
constexpr RegressionTileTimes kExactBytes{.launches = 23,
                                          .row = 0.18,
                                          .row_of_outputs = 0.13,
                                          .row_of_classes = 0.155,
                                          .number_of_row = 0.0135,
                                          .column = 0.0002,
                                          .pair = 1e-6,
                                          .pair_of_many = 8.8e-6,
                                          .products_per_us = 60e6,
                                          .block = 0};
constexpr RegressionRowTimes kNaive{.launches = 19,
                                    .start = 8.7,
                                    .column = 0.0527,
                                    .unaligned = 1.7,
                                    .of_memory = 1.1,
                                    .column_of_warps = 0.0154,
                                    .pass = 0.26,
                                    .number_of_pass = 0.091,
                                    .number = 0.61,
                                    .queries = 330};
constexpr RegressionRowTimes kOneKernel{.launches = 10.6,
                                        .start = 6.3,
                                        .column = 0.021,
                                        .unaligned = 1,
                                        .of_memory = 0,
                                        .column_of_warps = 0.0141,
                                        .pass = 0.4,
                                        .number_of_pass = 0.08,
                                        .number = 0.6,
                                        .queries = 342};

/// One query after the other, by three launches.
double time_of_two_kernels(const KernelRegression& problem) {
  constexpr double kLaunches = 31.5, kStart = 6.1, kByte = 2.14e-6, kPass = 0.06, kNumberOfPass = 0.35;
  constexpr double kRowsOfPass = 256;
  const auto rows = static_cast<double>(problem.training_rows);
  const double bytes = rows * static_cast<double>(problem.columns) * static_cast<double>(size_bytes(problem.type));
  const auto numbers = static_cast<double>(problem.outputs + problem.classes);
  const double sums = std::ceil(rows / kRowsOfPass) * (kPass + numbers * kNumberOfPass);
  return static_cast<double>(problem.queries) * std::max(kLaunches, kStart + bytes * kByte + sums);
}

/// Those that take the problem.
std::vector<RegressionExpected> expected(const KernelRegression& problem, const DeviceFacts& facts) {
  std::vector<RegressionExpected> all;
  if (!problem.is_slab) {
    const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
    all.push_back({"naive", mathematics::regression_time_by_rows(problem, kNaive, {false, units})});
    all.push_back({"one_kernel", mathematics::regression_time_by_rows(problem, kOneKernel, {true, units})});
    all.push_back({"two_kernels", time_of_two_kernels(problem)});
  }
  const RegressionTile tile = regression_tiles(problem, facts).front();
  const mathematics::RegressionTileRows rows{regression_block_rows(problem, tile), tile.rows};
  if (problem.type == DataType::uint8) {
    if (check_regression_bytes(problem)) {
      all.push_back({"exact_bytes", mathematics::regression_time_of_tiles(problem, kExactBytes, rows)});
    }
    if (facts.has_tensor_cores && check_regression_words(problem, "exact_bytes_tensor")) {
      all.push_back({"exact_bytes_tensor", mathematics::regression_time_of_tiles(problem, kTensor, rows)});
    }
    return all;
  }
  if (problem.accuracy == Accuracy::strict) return all;
  constexpr std::int64_t kSmallQueries = 32;
  const RegressionTileTimes& fused = problem.type == DataType::float64 ? kFusedFloat64
                                     : tile.queries <= kSmallQueries   ? kFusedFloat32Small
                                                                       : kFusedFloat32Large;
  all.push_back({"fused", mathematics::regression_time_of_tiles(problem, fused, rows)});
  if (const RegressionTiles split = regression_split_tiles(problem, facts); !split.empty()) {
    all.push_back({"fused_split", mathematics::regression_time_of_tiles(
                                      problem, kFusedSplit, {regression_block_rows(problem, split.front()), 1})});
  }
  return all;
}

}  // namespace

backend::Verdict regression_is_fastest(std::string_view variant, const KernelRegression& problem,
                                       const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (facts.info.kind == DeviceKind::cpu) return backend::Verdict::yes();
  return mathematics::regression_is_fastest(problem, variant, expected(problem, facts));
}

}  // namespace tessera::opencl
