// kernel_regression, fused_split: float32 products of centred rows by the fp16 tensor cores of Hopper, in tiles; the
// least distance and the sums pass by with them. The launches are in kernel_regression_tiles.cpp.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "mathematics/kernel_regression_split.h"
#include "ops/gemm/gemm_split_launch.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_split_shapes.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::int64_t kPanelBytes = kSplitPlane * std::int64_t{sizeof(float)};

RegressionTile tile_of(const KernelRegression& problem, const SplitShape& shape) {
  const int queries = regression_split_queries(shape);
  return {.queries = queries,
          .rows = shape.tile_n,
          .threads = kSplitThreads,
          .blocks = 1,
          .shared_bytes = static_cast<std::size_t>(regression_split_bytes(shape)),
          .image = embedded::kernel_regression_fused_split,
          .function = sentence("tessera_kernel_regression_fused_split_",
                               problem.distance == Distance::euclidean ? "euclidean_" : "squared_",
                               problem.outputs + problem.classes > 1 ? "many_sums_" : "one_sum_", queries),
          .packing = {.depth_bytes = kPanelBytes,
                      .kernel = "pack_split",
                      .row_panel = shape.tile_n,
                      .query_panel = kSplitRows},
          // A block that fetches all for itself takes a little longer than one of two that share rows: by 2 and 1 % for
          // 1,000 and 10,000 queries of 60000 x 784 on an H200, in 2 rounds each and in 18 beside 19.
          .clusters = {.blocks = shape.cluster(), .pieces = 1, .time = shape.cluster() == 1 ? 17 : 16}};
}

std::vector<RegressionTile> tiles_of(const KernelRegression& problem) {
  std::vector<RegressionTile> tiles;
  for (const SplitShape& shape : kRegressionSplitShapes) tiles.push_back(tile_of(problem, shape));
  return tiles;
}

Verdict check(const KernelRegression& problem, const backend::Device& device) {
  if (Verdict verdict = mathematics::check_regression_split(problem); !verdict) return verdict;
  if (Verdict card = check_split_card(device); !card) return card;
  return check_regression_tiles(problem, device, tiles_of(problem));
}

double error_factor_of(const KernelRegression& problem, const backend::Device&) {
  return mathematics::regression_split_error_factor(problem.columns, kSplitPlane);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_fused_split() {
  return {.name = "fused_split",
          .summary = "float32 products of centred rows as three of fp16 by the tensor cores; sums pass by with them",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, device, tiles_of(problem));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                return make_regression_tiles(problem, native(device).context(), chosen_tile(tiles_of(problem), tuning));
              },
          .error_factor_of = error_factor_of,
          .pays = [](const KernelRegression& problem,
                     const backend::Device& device) { return regression_is_fastest("fused_split", problem, device); }};
}

}  // namespace tessera::cuda
