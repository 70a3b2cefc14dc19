// kernel_regression by tiles: the pieces of work of a round, a tile of queries and a block of training rows each.
#pragma once

#include <cstdint>

#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

/// Of a problem's training rows.
template <class T>
[[nodiscard]] __device__ __forceinline__ int blocks_of(const RegressionTileArguments<T>& regression) {
  return static_cast<int>((regression.training_rows + regression.block_rows - 1) / regression.block_rows);
}

/// Pieces of one block follow each other, of as many tiles of queries as caches hold: those that are computed at the
/// same time read the same rows. A launch has no more pieces than an int counts.
struct RegressionPiece {
  template <class T>
  __device__ __forceinline__ RegressionPiece(const RegressionTileArguments<T>& regression, int number) {
    const int blocks = blocks_of(regression);
    const auto at_once = static_cast<int>(regression.tiles_at_once);
    const int first = number / (blocks * at_once) * at_once;
    const int tiles = min(static_cast<int>(regression.query_tiles) - first, at_once);
    const int place = number - first * blocks;
    const int in_tiles = place / tiles;
    block = in_tiles;
    tile = first + place - in_tiles * tiles;
  }
  std::int64_t block;
  std::int64_t tile;
};

}  // namespace tessera::cuda
