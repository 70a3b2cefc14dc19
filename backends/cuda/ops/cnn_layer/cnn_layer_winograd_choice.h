// When the variant "winograd" is worth its transforms, how it cuts the output into tiles, and which tunables it has:
// numbers that were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/operator_table.h"
#include "mathematics/cnn_layer_pool.h"
#include "mathematics/division.h"

namespace tessera::cuda {

/// How the output is cut into tiles.
struct CnnLayerWinogradTiling {
  CnnLayerWinogradTiling(const CnnLayer& problem, std::int64_t outputs_of_tile)
      : outputs(outputs_of_tile),
        points((outputs_of_tile + problem.filter_height - 1) * (outputs_of_tile + problem.filter_height - 1)),
        is_direct(problem.layout == Layout::nchw && (problem.pool_size == 1 || mathematics::has_plain_pool(problem))),
        is_pooled(is_direct && problem.pool_size == 2),
        rows(mathematics::ceil_div(is_pooled ? 2 * problem.output_height() : problem.convolved_height(),
                                   outputs_of_tile)),
        row_tiles(mathematics::ceil_div(is_pooled ? 2 * problem.output_width() : problem.convolved_width(),
                                        outputs_of_tile)) {}

  std::int64_t outputs;  ///< of a tile, in both directions
  std::int64_t points;
  bool is_direct;  ///< the tiles' kernel writes the result itself
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

/// Chunks are powers of two below the number of tiles, and one that holds all.
[[nodiscard]] std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem, const backend::Device& device,
                                                               std::optional<double> of_sums = {});

}  // namespace tessera::cuda
