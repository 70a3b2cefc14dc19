// Products of split rows by warps, from sm_80 on: the tiles that a block computes of them; read by host and device. How
// split rows lie in memory is the same as for warp groups (cuda_split_shape.h), with blocks of rows as high as a tile.
#pragma once

#include "cuda_host_device.h"
#include "cuda_split_shape.h"

namespace tessera::cuda {

/// Rows and columns of a block of a warp's sums.
inline constexpr int kSplitMmaBlock = 16;
/// Bytes of a chunk of a row, which is 8 steps of k, and chunks of a plane that an instruction multiplies.
inline constexpr int kSplitChunkBytes = 16, kSplitStepChunks = kSplitStep * 2 / kSplitChunkBytes;

/// A block of warps computes the products of tile_m() rows of A and tile_n() of B.
struct SplitMmaShape {
  int warps_m;
  int warps_n;
  int row_blocks;  ///< of a warp, 16 rows each
  int column_blocks;
  int steps;  ///< of both planes that a stage of shared memory holds, kSplitStep of k each
  int stages;
  int blocks;  ///< that shall find room on a multiprocessor

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_m() const { return warps_m * row_blocks * kSplitMmaBlock; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_n() const {
    return warps_n * column_blocks * kSplitMmaBlock;
  }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int threads() const { return warps_m * warps_n * 32; }
  /// Pieces of 8 columns of a warp's sums.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int pairs() const { return 2 * column_blocks; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int stage_bytes_of_a() const {
    return kSplitPlanes * steps * kSplitStepChunks * tile_m() * kSplitChunkBytes;
  }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int stage_bytes_of_b() const {
    return kSplitPlanes * steps * kSplitStepChunks * tile_n() * kSplitChunkBytes;
  }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int shared_bytes() const {
    return stages * (stage_bytes_of_a() + stage_bytes_of_b());
  }
};

/// The shapes that are compiled, the smallest tile first. Shared memory is what every card has without being asked.
inline constexpr SplitMmaShape kSplitMmaShapes[]{{2, 2, 2, 2, 2, 3, 4}, {2, 2, 4, 4, 1, 3, 2}};

}  // namespace tessera::cuda
