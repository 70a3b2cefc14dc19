// How gemm's variants split and scaled_half fetch panels: which tile of C a block computes, the rings of panels that a
// block has in shared memory, and the threads that fill them.
//
// Blocks of a cluster that need the same panel fetch an equal part of it each, for all of them. Each of A's blocks of
// rows has a ring of its own, so that its panels are given back when its products are done, while those of the next go
// on.
#pragma once

#include "cuda_bulk_copy.cuh"
#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What a block has in shared memory.
template <GemmSplitShape kShape>
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

/// A block's tile of C, counted in tiles, and the product of the batch.
struct SplitTile {
  std::int64_t matrix;
  std::int64_t row;
  std::int64_t column;
};

/// The tiles of a block one after the other: clusters with neighbouring numbers run at the same time and share what
/// they read through the L2 cache, so they walk along m within a band before they step along n.
template <GemmSplitShape kShape>
class SplitTiles {
 public:
  __device__ __forceinline__ explicit SplitTiles(const GemmSplitArguments& gemm)
      : gemm_(gemm), number_(blockIdx.x), rank_(kShape.cluster() > 1 ? block_of_cluster() : 0) {}
  [[nodiscard]] __device__ __forceinline__ bool has_more() const {
    return number_ < std::int64_t{gemm_.tiles_m} * gemm_.tiles_n * gemm_.batch;
  }
  __device__ __forceinline__ void advance() { number_ += gridDim.x; }
  [[nodiscard]] __device__ __forceinline__ SplitTile tile() const {
    const int each = gemm_.tiles_m * gemm_.tiles_n;
    const std::int64_t matrix = number_ / each;
    const auto of_matrix = static_cast<int>(number_ - matrix * each);
    const int of_band = gemm_.band * gemm_.tiles_n;
    const int band = of_matrix / of_band;
    const int inside = of_matrix - band * of_band;
    const int first = band * gemm_.band;
    const int height = min(gemm_.band, gemm_.tiles_m - first);
    return {matrix, std::int64_t{first + inside % height} * kShape.cluster_m + along_m(),
            std::int64_t{inside / height} * kShape.cluster_n + along_n()};
  }
  /// The block's place in its cluster.
  [[nodiscard]] __device__ __forceinline__ unsigned along_m() const { return rank_ / kShape.cluster_n; }
  [[nodiscard]] __device__ __forceinline__ unsigned along_n() const { return rank_ % kShape.cluster_n; }

 private:
  const GemmSplitArguments& gemm_;
  std::int64_t number_;
  unsigned rank_;
};

/// One thread fetches panels of A for the blocks of rows with this number of both warp groups.
template <GemmSplitShape kShape>
__device__ __forceinline__ void fetch_a(const GemmSplitArguments& gemm, SplitShared<kShape>& shared, int block_m) {
  constexpr unsigned kBytes = kSplitRows * kSplitRowBytes;
  RingPlace<kShape.stages_a> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const std::int64_t row =
        tile.matrix * gemm.a_matrix_rows + tile.row * kShape.tile_m() + block_m * kSplitGroups * kSplitRows;
    const unsigned char* panel = gemm.a_panels + row * gemm.panels * kSplitRowBytes;
    const std::int64_t next_group = std::int64_t{gemm.panels} * kBytes;
    for (int i = 0; i < gemm.panels; ++i, panel += kBytes) {
      wait(shared.a_empty[block_m][stage.place], stage.parity ^ 1);
      SharedBarrier& full = shared.a_full[block_m][stage.place];
      arm(full, kSplitGroups * kBytes);
      if constexpr (kShape.cluster_n == 1) {
#pragma unroll
        for (int group = 0; group < kSplitGroups; ++group) {
          copy_bulk(shared.a[block_m][stage.place][group], panel + group * next_group, kBytes, full);
        }
      } else {
        static_assert(kShape.cluster_n == kSplitGroups && kShape.cluster_m == 1, "a block fetches for one group");
        const unsigned group = tiles.along_n();
        copy_bulk_to_blocks(shared.a[block_m][stage.place][group], panel + group * next_group, kBytes, full,
                            (1U << kShape.cluster_n) - 1);
      }
      stage.advance();
    }
  }
}

/// One thread fetches panels of B.
template <GemmSplitShape kShape>
__device__ __forceinline__ void fetch_b(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  constexpr unsigned kBytes = kShape.tile_n * kSplitRowBytes;
  RingPlace<kShape.stages_b> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const std::int64_t row = tile.matrix * gemm.b_matrix_rows + tile.column * kShape.tile_n;
    const unsigned char* panel = gemm.b_panels + row * gemm.panels * kSplitRowBytes;
    for (int i = 0; i < gemm.panels; ++i, panel += kBytes) {
      wait(shared.b_empty[stage.place], stage.parity ^ 1);
      SharedBarrier& full = shared.b_full[stage.place];
      arm(full, kBytes);
      if constexpr (kShape.cluster_m == 1) {
        copy_bulk(shared.b[stage.place], panel, kBytes, full);
      } else {
        static_assert(kShape.cluster_n == 1, "the cluster's blocks lie along m");
        constexpr unsigned kPart = kBytes / kShape.cluster_m;
        const unsigned part = tiles.along_m() * kPart;
        copy_bulk_to_blocks(shared.b[stage.place] + part, panel + part, kPart, full, (1U << kShape.cluster_m) - 1);
      }
      stage.advance();
    }
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
