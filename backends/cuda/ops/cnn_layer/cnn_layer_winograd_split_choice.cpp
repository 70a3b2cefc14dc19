// Choice of winograd_split's tile of products, by gemm's model of the time where nothing is transformed on the way.
#include "ops/cnn_layer/cnn_layer_winograd_split_choice.h"

#include <algorithm>
#include <iterator>

#include "mathematics/cnn_layer_winograd_split.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_split_choice.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;
using mathematics::round_up;

/// Columns that a multiprocessor multiplies one after the other.
std::int64_t columns_in_turn(const Gemm& product, const GemmSplitShape& shape, const DeviceLimits& card) {
  const GemmSplitTiling tiling = tiling_of(shape);
  const std::int64_t tiles = product.batch * (tiling.padded_rows_of_a(product) / tiling.tile_m) *
                             (tiling.padded_rows_of_b(product) / tiling.tile_n) / tiling.cluster();
  return ceil_div(tiles, std::max<std::int64_t>(1, card.multiprocessors / tiling.cluster())) * tiling.tile_n;
}

/// By gemm's model (gemm_split_choice.cpp), of which only what differs between shapes counts: clocks of the tensor
/// cores in a microsecond, of which a block of 128 rows takes 12 for each column and panel, and that the largest tiles
/// begin late.
double products_us(const Gemm& product, const GemmSplitShape& shape, const DeviceLimits& card) {
  const bool is_largest = shape.blocks_m == 2;
  const std::int64_t columns = columns_in_turn(product, shape, card) * shape.blocks_m;
  const auto clocks = static_cast<double>(12 * columns * ceil_div(product.k, std::int64_t{kSplitPlane}));
  return clocks / (is_largest ? 1300 : shape.tile_n == 64 ? 1080 : 1210) + (is_largest ? 14 : 3.5);
}

const GemmSplitShape& shape_that_transforms_down() {
  return *std::find_if(std::begin(kCnnLayerWinogradShapes), std::end(kCnnLayerWinogradShapes),
                       transforms_products_down);
}

// Fitted on an H100 to the study's layer, where products take about 150 us with the tile that transforms down and 135
// with 256 x 120, and the transforms back 38 and 70. In 14 other layers of 64 to 512 channels, 5 x 5 and 3 x 3, each
// with both, what these say to be faster is so.
/// For each megabyte of products that is written and read.
constexpr double kMovedMegabyte_us = 0.265;
/// Of a panel's products for all clusters at once, with the tile that transforms down.
constexpr double kPanelDown_us = 0.89;
/// So much ahead it must be.
constexpr double kAhead = 1.02;

double moved_us(const Gemm& product, const GemmSplitShape& shape, std::int64_t points) {
  const auto sums = static_cast<double>(points * round_up<std::int64_t>(product.m, kCnnLayerWinogradBlockOutputs) *
                                        tiling_of(shape).padded_rows_of_b(product));
  return 2 * sizeof(float) * 1e-6 * sums * kMovedMegabyte_us;
}

/// With what the transform back takes for them.
double all_us(const Gemm& product, const CnnLayerWinogradTiling& tiling, const GemmSplitShape& shape,
              const DeviceLimits& card) {
  if (!transforms_products_down(shape)) {
    return products_us(product, shape, card) + moved_us(product, shape, tiling.points);
  }
  const GemmSplitTiling blocks = tiling_of(shape);
  const std::int64_t tiles = tiling.row_points * (blocks.padded_rows_of_a(product) / blocks.tile_m) *
                             (blocks.padded_rows_of_b(product) / blocks.tile_n) / blocks.cluster();
  const std::int64_t panels = ceil_div(tiles, gemm_split_clusters(blocks, card)) * (tiling.points / tiling.row_points) *
                              ceil_div(product.k, std::int64_t{kSplitPlane});
  return kPanelDown_us * static_cast<double>(panels) +
         moved_us(product, shape, tiling.shape.outputs_y * tiling.row_points);
}

}  // namespace

Gemm winograd_split_product(const CnnLayer& problem, const CnnLayerWinogradTiling& tiling, std::int64_t tiles,
                            std::int64_t leading) {
  return with_layout({.m = problem.output_channels,
                      .n = tiles,
                      .k = problem.input_channels,
                      .transpose_a = true,
                      .lda = round_up<std::int64_t>(problem.output_channels, 4),
                      .ldc = leading,
                      .batch = tiling.points});
}

bool winograd_split_may_transform_down(const CnnLayer& problem) {
  using mathematics::cnn_layer_winograd_shapes;
  return cnn_layer_winograd_shapes(problem,
                                   mathematics::cnn_layer_winograd_split_down_roundings(problem, kSplitPlane)) ==
         cnn_layer_winograd_shapes(problem, mathematics::cnn_layer_winograd_split_roundings(problem, kSplitPlane));
}

double winograd_split_roundings(const CnnLayer& problem, const GemmSplitShape& shape) {
  return transforms_products_down(shape) ? mathematics::cnn_layer_winograd_split_down_roundings(problem, kSplitPlane)
                                         : mathematics::cnn_layer_winograd_split_roundings(problem, kSplitPlane);
}

double winograd_split_roundings(const CnnLayer& problem) {
  return winograd_split_may_transform_down(problem)
             ? winograd_split_roundings(problem, shape_that_transforms_down())
             : mathematics::cnn_layer_winograd_split_roundings(problem, kSplitPlane);
}

// gemm's choice for a whole chunk, or for the tiles that there are where these do not fill half of it; or a tile with
// other columns that leaves less without work, or the one that spares
// memory.
const GemmSplitShape& choose_winograd_split(const CnnLayer& problem, const CnnLayerWinogradTiling& tiling,
                                            std::int64_t chunk, const DeviceLimits& card) {
  const std::int64_t tiles = std::min(chunk, tiling.all_tiles(problem.batch));
  const Gemm product = winograd_split_product(problem, tiling, tiles, round_up<std::int64_t>(tiles, 4));
  const std::int64_t columns = 2 * tiles < chunk ? tiles : chunk;
  const GemmSplitShape* chosen = &choose_gemm_split(
      winograd_split_product(problem, tiling, columns, round_up<std::int64_t>(columns, 4)), GemmSplitKind::split, card);
  for (const GemmSplitShape& shape : kCnnLayerWinogradShapes) {
    const bool is_own = shape.tile_n == 112 || shape.tile_n == 120;
    if (is_own && products_us(product, shape, card) < products_us(product, *chosen, card)) chosen = &shape;
  }
  const GemmSplitShape& down = shape_that_transforms_down();
  if (winograd_split_may_transform_down(problem) &&
      all_us(product, tiling, down, card) * kAhead < all_us(product, tiling, *chosen, card)) {
    return down;
  }
  return *chosen;
}

const GemmSplitShape& winograd_split_shape(std::int64_t tile_m, std::int64_t tile_n) {
  return *std::find_if(std::begin(kCnnLayerWinogradShapes), std::end(kCnnLayerWinogradShapes),
                       [&](const GemmSplitShape& shape) { return shape.tile_m() == tile_m && shape.tile_n == tile_n; });
}

}  // namespace tessera::cuda
