// kernel_regression, fused_split: float32 products of centred rows by the fp16 tensor cores of Hopper, in tiles; the
// least distance and the sums pass by with them. The launches are in kernel_regression_tiles.cpp.
#include <algorithm>
#include <cmath>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "mathematics/gemm_split_bound.h"
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
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("the rows of kernel_regression are ", to_string(problem.type),
                                ", but fused_split splits float32 alone"));
  }
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no(
        "the accuracy of kernel_regression is strict, but fused_split takes distances from lengths and from products "
        "that it makes of three of shorter numbers");
  }
  if (Verdict card = check_split_card(device); !card) return card;
  return check_regression_tiles(problem, device, tiles_of(problem));
}

/// The bound as a multiple of the strict algorithm's (docs/decisions/0027).
double error_factor_of(const KernelRegression& problem, const backend::Device&) {
  const auto d = static_cast<double>(problem.columns);
  // In units of roundoff: of |q| |t|, what a product is off by, small elements included; of (|q| + |t|)^2, the centre
  // taken off, both lengths' sums, and what the three are added up to.
  const double product = mathematics::gemm_split_roundings(d, mathematics::GemmSplitKind::split, kSplitPlane) + 1;
  const double centre = 2, lengths = std::ceil(d / 32) + 14, sum = 2;
  constexpr double kSecondOrder = 1 + 0x1p-8;
  constexpr double kOfFused = 2;
  return std::max(kOfFused, kSecondOrder * (product / 2 + centre + lengths + sum) / (d + 8));
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
