// The tiles of distances that "fused_split" is compiled for; read by host and device.
#pragma once

#include "cuda_split_shape.h"

namespace tessera::cuda {

// A is queries, B training rows. All tiles have as many rows, so that results have the same bits whatever the tile is.
// Among tiles that take equally long the first is preferred.
inline constexpr SplitShape kRegressionSplitShapes[]{{1, 128, 3, 3, 2, 1}, {1, 128, 3, 3, 1, 1}};

/// Queries of a cluster's tile.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int regression_split_queries(const SplitShape& shape) {
  return shape.tile_m() * shape.cluster_m;
}

/// Places for what else is known of a tile's rows.
inline constexpr int kRegressionSplitSlots = 2;
/// Shared memory of a block: its rings, those places and their barriers, and lists of near rows
/// (kernel_regression_warp_keys.cuh).
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int regression_split_bytes(const SplitShape& shape) {
  constexpr int kListBytes = 16 * 32 * 5;
  const int slot_bytes = shape.tile_n * 16 + 16;
  return shape.shared_bytes() + kRegressionSplitSlots * slot_bytes + kSplitGroups * 4 * kListBytes + 128;
}

}  // namespace tessera::cuda
