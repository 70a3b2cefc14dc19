// A row for each variant with a model.
#include "ops/kernel_regression/kernel_regression_expected.h"

#include <vector>

#include "mathematics/kernel_regression_slab.h"
#include "mathematics/kernel_regression_times.h"
#include "ops/gemm/gemm_split_launch.h"
#include "ops/kernel_regression/kernel_regression_operands.h"
#include "ops/kernel_regression/kernel_regression_variant_times.h"

namespace tessera::cuda {
namespace {

using mathematics::RegressionExpected;
using mathematics::RegressionTileTimes;

/// Those that take the problem.
std::vector<RegressionExpected> expected(const KernelRegression& problem, const backend::Device& device) {
  std::vector<RegressionExpected> all;
  const std::int64_t block_rows = mathematics::regression_block_rows(problem);
  if (!problem.is_slab) {
    const std::int64_t units = native(device).context()->limits().multiprocessors;
    all.push_back({"naive", mathematics::regression_time_by_rows(problem, kRegressionNaive, {false, units})});
    all.push_back({"one_kernel", mathematics::regression_time_by_rows(problem, kRegressionOneKernel, {true, units})});
  }
  if (problem.type == DataType::uint8 || problem.accuracy == Accuracy::strict) return all;
  const RegressionTileTimes& fused =
      problem.type == DataType::float64 ? kRegressionFusedFloat64 : kRegressionFusedFloat32;
  all.push_back({"fused", mathematics::regression_time_of_tiles(problem, fused, {block_rows})});
  if (problem.type == DataType::float32 && check_split_card(device)) {
    all.push_back({"fused_split", mathematics::regression_time_of_tiles(problem, kRegressionFusedSplit, {block_rows})});
  }
  return all;
}

}  // namespace

backend::Verdict regression_is_fastest(std::string_view variant, const KernelRegression& problem,
                                       const backend::Device& device) {
  return mathematics::regression_is_fastest(problem, variant, expected(problem, device));
}

}  // namespace tessera::cuda
