// The rings of panels that a block has in shared memory for products of split rows (cuda_split_products.cuh), and how
// single threads fill them, a tile's panels in a call.
//
// Blocks of a cluster that need the same panel fetch an equal part of it each, for all of them. Each of A's blocks of
// rows has a ring of its own, so that its panels are given back when its products are done, while those of the next go
// on.
#pragma once

#include "cuda_bulk_copy.cuh"
#include "cuda_split_shape.h"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What a block has in shared memory.
template <SplitShape kShape>
struct SplitShared {
  alignas(128) unsigned char a[kShape.blocks_m][kShape.stages_a][kSplitGroups][kSplitRows * kSplitRowBytes];
  alignas(128) unsigned char b[kShape.stages_b][kShape.tile_n * kSplitRowBytes];
  SharedBarrier a_full[kShape.blocks_m][kShape.stages_a], a_empty[kShape.blocks_m][kShape.stages_a];
  SharedBarrier b_full[kShape.stages_b], b_empty[kShape.stages_b];

  /// By one thread. Every warp that multiplies gives a panel back to all blocks that fetch it.
  __device__ __forceinline__ void initialise_barriers() {
    constexpr unsigned kWarps = kSplitGroups * 4;
    for (int i = 0; i < kShape.blocks_m * kShape.stages_a; ++i) {
      initialise(a_full[0][i], 1);
      initialise(a_empty[0][i], kWarps * kShape.cluster_n);
    }
    for (int i = 0; i < kShape.stages_b; ++i) {
      initialise(b_full[i], 1);
      initialise(b_empty[i], kWarps * kShape.cluster_m);
    }
    publish_barriers();
  }
};

/// Fetches a tile's panels of A for the blocks of rows with the number `block_m` of both warp groups; `panel` is the
/// first group's first. `along_n` is the block's place in a cluster, `row_of_blocks` a bit for each block beside it
/// along n and itself.
template <SplitShape kShape>
__device__ __forceinline__ void fetch_panels_of_a(SplitShared<kShape>& shared, RingPlace<kShape.stages_a>& stage,
                                                  int block_m, const unsigned char* panel, int panels, unsigned along_n,
                                                  unsigned row_of_blocks = (1U << kShape.cluster_n) - 1) {
  constexpr unsigned kBytes = kSplitRows * kSplitRowBytes;
  const std::int64_t next_group = std::int64_t{panels} * kBytes;
  for (int i = 0; i < panels; ++i, panel += kBytes) {
    wait(shared.a_empty[block_m][stage.place], stage.parity ^ 1);
    SharedBarrier& full = shared.a_full[block_m][stage.place];
    arm(full, kSplitGroups * kBytes);
    if constexpr (kShape.cluster_n == 1) {
#pragma unroll
      for (int group = 0; group < kSplitGroups; ++group) {
        copy_bulk(shared.a[block_m][stage.place][group], panel + group * next_group, kBytes, full);
      }
    } else {
      static_assert(kShape.cluster_n == kSplitGroups, "a block fetches for one group");
      copy_bulk_to_blocks(shared.a[block_m][stage.place][along_n], panel + along_n * next_group, kBytes, full,
                          static_cast<unsigned short>(row_of_blocks));
    }
    stage.advance();
  }
}

/// Fetches a tile's panels of B. `column_of_blocks`: a bit for each block beside it along m and itself.
template <SplitShape kShape>
__device__ __forceinline__ void fetch_panels_of_b(SplitShared<kShape>& shared, RingPlace<kShape.stages_b>& stage,
                                                  const unsigned char* panel, int panels, unsigned along_m,
                                                  unsigned column_of_blocks = (1U << kShape.cluster_m) - 1) {
  constexpr unsigned kBytes = kShape.tile_n * kSplitRowBytes;
  for (int i = 0; i < panels; ++i, panel += kBytes) {
    wait(shared.b_empty[stage.place], stage.parity ^ 1);
    SharedBarrier& full = shared.b_full[stage.place];
    arm(full, kBytes);
    if constexpr (kShape.cluster_m == 1) {
      copy_bulk(shared.b[stage.place], panel, kBytes, full);
    } else {
      constexpr unsigned kPart = kBytes / kShape.cluster_m;
      const unsigned part = along_m * kPart;
      copy_bulk_to_blocks(shared.b[stage.place] + part, panel + part, kPart, full,
                          static_cast<unsigned short>(column_of_blocks));
    }
    stage.advance();
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
