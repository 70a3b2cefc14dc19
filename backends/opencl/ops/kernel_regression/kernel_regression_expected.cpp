// A row for each variant with a model. Times are microseconds of NVIDIA's OpenCL on H100 and H200, fitted to random
// problems and to series of them, in which only what takes up to a few hundred microseconds counts; without a
// committed file.
#include "ops/kernel_regression/kernel_regression_expected.h"

#include <algorithm>
#include <vector>

#include "mathematics/kernel_regression_times.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::opencl {
namespace {

using mathematics::RegressionExpected;
using mathematics::RegressionRowTimes;
using mathematics::RegressionTileTimes;

constexpr RegressionTileTimes kFusedFloat32{.launches = 21.4,
                                            .row = 0.18,
                                            .row_of_outputs = 0.05,
                                            .row_of_classes = 0.2,
                                            .number_of_row = 0.012,
                                            .column = 0.00055,
                                            .pair = 12.7e-6,
                                            .pair_of_many = 18e-6,
                                            .products_per_us = 13.7e6,
                                            .block = 0};
constexpr RegressionTileTimes kFusedFloat64{.launches = 21.3,
                                            .row = 0.16,
                                            .row_of_outputs = 0.05,
                                            .row_of_classes = 0.2,
                                            .number_of_row = 0.015,
                                            .column = 0.000535,
                                            .pair = 11.2e-6,
                                            .pair_of_many = 25e-6,
                                            .products_per_us = 73e6,
                                            .block = 0.22};
constexpr RegressionRowTimes kNaive{.launches = 14.6,
                                    .pass = 0.284,
                                    .number_of_pass = 0.055,
                                    .number = 0.38,
                                    .queries = 300,
                                    .column = 0.055,
                                    .least_column = 0,
                                    .column_of_many = 0.1};
constexpr RegressionRowTimes kOneKernel{.launches = 7.3,
                                        .pass = 0.13,
                                        .number_of_pass = 0.082,
                                        .number = 0.63,
                                        .queries = 410,
                                        .column = 0.048,
                                        .least_column = 0.016,
                                        .column_of_many = 0.017};
constexpr std::int64_t kRowsOfNaive = 64, kRowsOfGroup = 256;

/// Those that take the problem.
std::vector<RegressionExpected> expected(const KernelRegression& problem, const DeviceFacts& facts) {
  std::vector<RegressionExpected> all;
  if (!problem.is_slab) {
    const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
    all.push_back({"naive", mathematics::regression_time_by_rows(problem, kNaive, {kRowsOfNaive, false, units})});
    all.push_back(
        {"one_kernel", mathematics::regression_time_by_rows(problem, kOneKernel, {kRowsOfGroup, true, units})});
  }
  if (problem.type == DataType::uint8 || problem.accuracy == Accuracy::strict) return all;
  const RegressionTileTimes& fused = problem.type == DataType::float64 ? kFusedFloat64 : kFusedFloat32;
  const std::int64_t block_rows = regression_block_rows(problem, regression_tiles(problem, facts).front());
  all.push_back({"fused", mathematics::regression_time_of_tiles(problem, fused, block_rows)});
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
