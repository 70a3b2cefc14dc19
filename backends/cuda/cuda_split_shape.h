// Float32 products by the fp16 tensor cores of Hopper (docs/decisions/0025): how split rows lie in memory, and the
// tiles of products that a block computes of them; read by host and device.
//
// A row of an operand is multiplied by a power of two, so that its largest element lies in [2^14, 2^15), and rounded to
// fp16. A panel holds kSplitPlane steps of k of a block of rows, twice: the rounded elements and behind them what
// rounding left of each or, where that is not kept, the next kSplitPlane steps. In a plane chunks of 16 bytes, which
// are 8 steps of k, lie as cuda_warpgroup_products.cuh wants them: chunk 0 of all rows, then chunk 1. The panels of a
// block of rows lie one behind the other, in the order of k.
#pragma once

#include "cuda_host_device.h"

namespace tessera::cuda {

/// Steps of k that an instruction multiplies, and those of a plane, the two planes of a panel, and bytes that a row
/// takes in a panel.
inline constexpr int kSplitStep = 16, kSplitPlane = 64, kSplitPlanes = 2,
                     kSplitRowBytes = kSplitPlane * kSplitPlanes * 2;
/// Rows of a block of A: what a warp group multiplies at once. Those of B are a tile's columns.
inline constexpr int kSplitRows = 64;
/// Two warp groups multiply, of a third single threads fetch.
inline constexpr int kSplitGroups = 2, kSplitThreads = 128 * (kSplitGroups + 1);

/// A block computes the products of tile_m() rows of A and tile_n of B.
struct SplitShape {
  int blocks_m;  ///< blocks of 64 rows that each warp group multiplies
  int tile_n;
  int stages_a;  ///< panels in shared memory, for each of blocks_m
  int stages_b;
  int cluster_m;  ///< blocks of a cluster that lie along m and fetch B for each other
  int cluster_n;  ///< along n, A

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_m() const { return blocks_m * kSplitGroups * kSplitRows; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int cluster() const { return cluster_m * cluster_n; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int panel_bytes_of_a() const {
    return kSplitGroups * kSplitRows * kSplitRowBytes;
  }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int panel_bytes_of_b() const { return tile_n * kSplitRowBytes; }
  /// With room for the barriers.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int shared_bytes() const {
    return blocks_m * stages_a * panel_bytes_of_a() + stages_b * panel_bytes_of_b() + 256;
  }
};

}  // namespace tessera::cuda
