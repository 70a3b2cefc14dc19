// When the variant "winograd" is worth its transforms, how it cuts the output into tiles, and which tunables it has:
// numbers that were measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/operator_table.h"
#include "mathematics/cnn_layer_pool.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/division.h"

namespace tessera::cuda {

/// How the output is cut into tiles.
struct CnnLayerWinogradTiling {
  CnnLayerWinogradTiling(const CnnLayer& problem, mathematics::WinogradTileShape shape_of_tile)
      : shape(shape_of_tile),
        row_points(shape.outputs_x + problem.filter_width - 1),
        points((shape.outputs_y + problem.filter_height - 1) * row_points),
        is_direct(problem.pool_size == 1 || mathematics::has_plain_pool(problem)),
        is_pooled(is_direct && problem.pool_size == 2),
        rows(mathematics::ceil_div(is_pooled ? 2 * problem.output_height() : problem.convolved_height(),
                                   shape.outputs_y)),
        row_tiles(mathematics::ceil_div(is_pooled ? 2 * problem.output_width() : problem.convolved_width(),
                                        shape.outputs_x)) {}

  /// Of so many images; one image's where there are none.
  [[nodiscard]] std::int64_t all_tiles(std::int64_t images) const {
    return std::max<std::int64_t>(images, 1) * rows * row_tiles;
  }

  mathematics::WinogradTileShape shape;
  std::int64_t row_points;  ///< of a row of a tile's patch
  std::int64_t points;
  bool is_direct;  ///< the tiles' kernel writes the result itself, as planes
  bool is_pooled;  ///< ... and pools
  std::int64_t rows;
  std::int64_t row_tiles;
};

/// Do the products that are saved outweigh the transforms? Those are counted per tile: input_channels * output_channels
/// (those of a tile of implicit_gemm, if there are fewer) times the multiplications saved against input_channels +
/// output_channels times the bytes of one channel. On an H200, with 3 channels to 32 the transforms cost five times
/// what they save.
[[nodiscard]] backend::Verdict cnn_layer_winograd_pays(const CnnLayer& problem, const backend::Device& device,
                                                       std::optional<double> of_sums = {});

/// Of these shapes, the larger first, one with as many rows as the first: the last that tiles the layer with the fewest
/// points, and in small layers the last.
[[nodiscard]] mathematics::WinogradTileShape choose_winograd_shape(
    const CnnLayer& problem, const std::vector<mathematics::WinogradTileShape>& shapes);

/// How many tiles go at once, whose shape is this: powers of two below the number of tiles, and one that holds all.
[[nodiscard]] Tunable cnn_layer_winograd_chunk(const CnnLayer& problem, mathematics::WinogradTileShape shape);

}  // namespace tessera::cuda
