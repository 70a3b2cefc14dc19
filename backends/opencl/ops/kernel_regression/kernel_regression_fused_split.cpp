// kernel_regression, fused_split: float32 products of centred rows as three of fp16 by NVIDIA's tensor cores. The
// launches are in kernel_regression_tiles.cpp.
#include <algorithm>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "mathematics/kernel_regression_split.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// Columns of a step, whose products the tensor cores add up before the sum goes to float32.
constexpr std::int64_t kStepColumns = 16;

RegressionTile tile_of(const KernelRegression& problem, std::int64_t warps) {
  constexpr std::int64_t kRows = 128;
  constexpr std::int64_t kWarpQueries = 16;
  constexpr std::int64_t kWorkRows = 4;  // of a lane: 32 of them have a warp's rows
  constexpr std::int64_t kStages = 3;
  RegressionTile tile{warps * kWarpQueries, kRows, kWarpQueries, kWorkRows, 4, kStepColumns, 1, kStages};
  tile.is_split = true;
  tile.has_other_sums = problem.outputs + problem.classes > 1;
  return tile;
}

Verdict check_problem(const KernelRegression& problem, const DeviceFacts& facts) {
  if (Verdict verdict = mathematics::check_regression_split(problem); !verdict) return verdict;
  if (facts.has_tensor_cores) return Verdict::yes();
  return Verdict::no(sentence("'", facts.info.name,
                              "' has no tensor cores of NVIDIA's sm_80 or newer, by which fused_split multiplies"));
}

Verdict check(const KernelRegression& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (Verdict verdict = check_problem(problem, facts); !verdict) return verdict;
  return check_regression_tiles(problem, facts, regression_split_tiles(problem, facts));
}

double error_factor_of(const KernelRegression& problem, const backend::Device&) {
  return mathematics::regression_split_error_factor(problem.columns, kStepColumns);
}

}  // namespace

RegressionTiles regression_split_tiles(const KernelRegression& problem, const DeviceFacts& facts) {
  if (!check_problem(problem, facts)) return {};
  const RegressionTile large = tile_of(problem, 4), small = tile_of(problem, 2);
  const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const std::int64_t blocks = ceil_div(problem.training_rows, mathematics::regression_block_rows(problem));
  // Small tiles are for what leaves multiprocessors without a large one.
  if (ceil_div(problem.queries, large.queries) * blocks < 2 * units) return {small, large};
  return {large, small};
}

backend::Variant<KernelRegression> kernel_regression_fused_split() {
  return {.name = "fused_split",
          .summary = "float32 products of centred rows as three of fp16 by tensor cores; sums pass by with them",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                const DeviceFacts& facts = native(device).facts();
                return regression_tile_tunables(problem, facts, regression_split_tiles(problem, facts));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const OpenclDevice& opencl = native(device);
                return make_regression_tiles(problem, opencl, tuning, regression_split_tiles(problem, opencl.facts()));
              },
          .error_factor_of = error_factor_of,
          .pays = [](const KernelRegression& problem,
                     const backend::Device& device) { return regression_is_fastest("fused_split", problem, device); }};
}

}  // namespace tessera::opencl
