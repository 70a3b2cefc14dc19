// How gemm's variants split and scaled_half fetch panels: which tile of C a block computes, and the threads that fill
// its rings (cuda_split_rings.cuh).
#pragma once

#include "cuda_split_rings.cuh"
#include "ops/gemm/gemm_split_tiles.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// The tiles of a block one after the other.
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
    const SplitTile of_cluster = split_tile(gemm_, number_);
    return {of_cluster.matrix, of_cluster.row * kShape.cluster_m + along_m(),
            of_cluster.column * kShape.cluster_n + along_n()};
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
  RingPlace<kShape.stages_a> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const std::int64_t row =
        tile.matrix * gemm.a_matrix_rows + tile.row * kShape.tile_m() + block_m * kSplitGroups * kSplitRows;
    fetch_panels_of_a(shared, stage, block_m, gemm.a_panels + row * gemm.panels * kSplitRowBytes, gemm.panels,
                      tiles.along_n());
  }
}

/// One thread fetches panels of B.
template <GemmSplitShape kShape>
__device__ __forceinline__ void fetch_b(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  RingPlace<kShape.stages_b> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const std::int64_t row = tile.matrix * gemm.b_matrix_rows + tile.column * kShape.tile_n;
    fetch_panels_of_b(shared, stage, gemm.b_panels + row * gemm.panels * kSplitRowBytes, gemm.panels, tiles.along_m());
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
