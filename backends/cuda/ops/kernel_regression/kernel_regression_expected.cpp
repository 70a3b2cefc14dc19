// A row for each variant with a model. Times are microseconds of H100 and H200, fitted to random problems and to series
// of them, in which only what takes up to a few hundred microseconds counts; without a committed file.
#include "ops/kernel_regression/kernel_regression_expected.h"

#include <vector>

#include "mathematics/kernel_regression_slab.h"
#include "mathematics/kernel_regression_times.h"
#include "ops/gemm/gemm_split_launch.h"
#include "ops/kernel_regression/kernel_regression_operands.h"

namespace tessera::cuda {
namespace {

using mathematics::RegressionExpected;
using mathematics::RegressionRowTimes;
using mathematics::RegressionTileTimes;

constexpr RegressionTileTimes kFusedSplit{.launches = 11,
                                          .row = 0.003,
                                          .row_of_outputs = 0.19,
                                          .row_of_classes = 0.12,
                                          .number_of_row = 0.002,
                                          .column = 0.000115,
                                          .pair = 4.15e-6,
                                          .pair_of_many = 9e-6,
                                          .products_per_us = 156e6,
                                          .block = 0.21};
constexpr RegressionTileTimes kFusedFloat32{.launches = 12.5,
                                            .row = 0.018,
                                            .row_of_outputs = 0.02,
                                            .row_of_classes = 0.01,
                                            .number_of_row = 0.0005,
                                            .column = 0.00031,
                                            .pair = 8.4e-6,
                                            .pair_of_many = 0,
                                            .products_per_us = 16e6,
                                            .block = 0.26};
constexpr RegressionTileTimes kFusedFloat64{.launches = 11.2,
                                            .row = 0.0465,
                                            .row_of_outputs = 0.06,
                                            .row_of_classes = 0.06,
                                            .number_of_row = 0.01,
                                            .column = 0.00046,
                                            .pair = 7.4e-6,
                                            .pair_of_many = 0,
                                            .products_per_us = 30e6,
                                            .block = 0.32};
constexpr RegressionRowTimes kNaive{.launches = 7.4,
                                    .pass = 0.61,
                                    .number_of_pass = 0.14,
                                    .number = 0.58,
                                    .queries = 670,
                                    .column = 0.055,
                                    .column_of_many = 0.037};
constexpr RegressionRowTimes kOneKernel{.launches = 4.6,
                                        .pass = 0.57,
                                        .number_of_pass = 0.136,
                                        .number = 0.72,
                                        .queries = 430,
                                        .column = 0.049,
                                        .column_of_many = 0.024};

/// Those that take the problem.
std::vector<RegressionExpected> expected(const KernelRegression& problem, const backend::Device& device) {
  std::vector<RegressionExpected> all;
  const std::int64_t block_rows = mathematics::regression_block_rows(problem);
  if (!problem.is_slab) {
    const std::int64_t units = native(device).context()->limits().multiprocessors;
    all.push_back({"naive", mathematics::regression_time_by_rows(problem, kNaive, {kRegressionThreads, false, units})});
    all.push_back(
        {"one_kernel", mathematics::regression_time_by_rows(problem, kOneKernel, {kRegressionThreads, true, units})});
  }
  if (problem.type == DataType::uint8 || problem.accuracy == Accuracy::strict) return all;
  const RegressionTileTimes& fused = problem.type == DataType::float64 ? kFusedFloat64 : kFusedFloat32;
  all.push_back({"fused", mathematics::regression_time_of_tiles(problem, fused, block_rows)});
  if (problem.type == DataType::float32 && check_split_card(device)) {
    all.push_back({"fused_split", mathematics::regression_time_of_tiles(problem, kFusedSplit, block_rows)});
  }
  return all;
}

}  // namespace

backend::Verdict regression_is_fastest(std::string_view variant, const KernelRegression& problem,
                                       const backend::Device& device) {
  return mathematics::regression_is_fastest(problem, variant, expected(problem, device));
}

}  // namespace tessera::cuda
