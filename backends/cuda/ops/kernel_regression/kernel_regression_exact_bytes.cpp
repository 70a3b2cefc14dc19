// kernel_regression, exact_bytes: whole distances from products of bytes in tiles. The launches are in
// kernel_regression_tiles.cpp.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/gemm/gemm_split_launch.h"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {
namespace {

/// Of an instruction's products.
constexpr std::int64_t kStepBytes = 32;
/// What a query takes in the tile of 32, whose one group on a multiprocessor has few products for what it fetches: set
/// so that it is taken where groups are too few for a larger one, and nowhere else.
constexpr std::int64_t kSmallEffort = 180;

/// The tile by warp groups, where it can be: its queries lie in shared memory with all their columns, and a lane keeps
/// one output's sum.
bool takes_wide_tile(const KernelRegression& problem, const backend::Device& device) {
  return check_split_card(device) && problem.outputs == 1 && problem.classes == 0 &&
         mathematics::round_up(problem.columns, kStepBytes) <= kWideMostDepth;
}

RegressionTile wide_tile(const KernelRegression& problem) {
  const std::int64_t depth = mathematics::round_up(problem.columns, kStepBytes);
  return {.queries = kWideBlocks * kWideQueries,
          .rows = kWideRings * kWideRows,
          .threads = kWideThreads,
          .blocks = 1,
          .shared_bytes = static_cast<std::size_t>(kWideFixedBytes + kWideQueries * depth),
          .image = embedded::kernel_regression_exact_bytes_wide,
          .function = backend::sentence("tessera_kernel_regression_exact_bytes_wide_",
                                        problem.distance == Distance::euclidean ? "euclidean" : "squared"),
          .packing = {.depth_bytes = kStepBytes,
                      .kernel = "pack_panels",
                      .row_panel = kWideRows,
                      .query_panel = kWideQueries},
          // A piece of each ring at a time; it takes a fifth of what 128 queries do.
          .clusters = {.blocks = kWideBlocks, .pieces = kWideRings, .time = kWideQueries / 5}};
}

std::vector<RegressionTile> tiles_of_bytes(const KernelRegression& problem, const backend::Device& device) {
  const auto image_of = [](const RegressionByteShape& shape) -> const Image& {
    if (shape.queries == 256) return embedded::kernel_regression_exact_bytes_uint8_256x128;
    if (shape.queries == 128) return embedded::kernel_regression_exact_bytes_uint8_128x128;
    if (shape.queries == 64) return embedded::kernel_regression_exact_bytes_uint8_64x128;
    return embedded::kernel_regression_exact_bytes_uint8_32x128;
  };
  std::vector<RegressionTile> tiles;
  if (takes_wide_tile(problem, device)) tiles.push_back(wide_tile(problem));
  for (const RegressionByteShape& shape : kRegressionByteShapes) {
    tiles.push_back(
        {.queries = shape.queries,
         .rows = shape.rows,
         .threads = shape.threads(),
         .blocks = shape.blocks,
         .shared_bytes = shared_bytes(shape),
         .image = image_of(shape),
         .function = backend::sentence("tessera_kernel_regression_exact_bytes_", shape.queries, "x", shape.rows),
         .packing = {.depth_bytes = kStepBytes},
         .clusters = {},
         .effort = shape.keeps_tile ? kSmallEffort : kRegressionEffort});
  }
  return tiles;
}

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  using backend::sentence;
  if (problem.type != DataType::uint8) {
    return backend::Verdict::no(
        sentence("the type of kernel_regression is ", to_string(problem.type), ", but exact_bytes takes uint8 alone"));
  }
  if (backend::Verdict columns = check_regression_bytes(problem); !columns) return columns;
  return check_regression_tiles(problem, device, tiles_of_bytes(problem, device));
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes() {
  return {.name = "exact_bytes",
          .summary = "whole distances from products of bytes by the tensor cores, in register tiles",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, device, tiles_of_bytes(problem, device));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const std::vector<RegressionTile> tiles = tiles_of_bytes(problem, device);
                return make_regression_tiles(problem, native(device).context(), chosen_tile(tiles, tuning));
              }};
}

}  // namespace tessera::cuda
