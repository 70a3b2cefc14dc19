// cnn_layer, winograd_split: stores products as the tensor cores' registers hold them, in pieces of 512 bytes
// (cnn_layer_winograd_split_arguments.h).
#pragma once

#include <cstdint>

#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"
#include "ops/gemm/gemm_split_products.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What becomes of a tile's sums: those of an output channel are divided by the power of two of its weights, and that
/// of the pixels is left to the transform back, which is linear. The powers are read before the tile is multiplied.
template <GemmSplitShape kShape>
class StoreProducts {
 public:
  static constexpr bool kBesideProducts = true;
  __device__ __forceinline__ StoreProducts(const GemmSplitArguments& gemm, const SplitTile& tile,
                                           std::int64_t first_row, std::int64_t first_column)
      : gemm_(gemm),
        rows_(static_cast<int>(min(gemm.m - first_row, std::int64_t{kShape.tile_m()}))),
        columns_(static_cast<int>(min(gemm.n - first_column, std::int64_t{kShape.tile_n}))) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t blocks = gemm.ldc / kCnnLayerWinogradBlockTiles;
    place_ = gemm.c + tile.matrix * gemm.stride_c + lane * 4 +
             (first_row / kCnnLayerWinogradBlockOutputs * blocks + first_column / kCnnLayerWinogradBlockTiles) *
                 kCnnLayerWinogradBlock;
    const GemmSplitNote* const notes = gemm.a_notes + tile.matrix * gemm.a_matrix_rows + first_row + lane / 4;
#pragma unroll
    for (int i = 0; i < kShape.blocks_m; ++i) {
      shifts_[i] = __byte_perm(notes[i * kBlockRows].shift, notes[i * kBlockRows + 8].shift, 0x5410);
    }
  }

  template <int kSums>
  __device__ __forceinline__ void operator()(const float (&sum)[kSums], int block_m) const {
    if (block_m * kBlockRows >= rows_) return;
    const int upper = static_cast<std::int16_t>(shifts_[block_m]), lower = shifts_[block_m] >> 16;
    const float upper_factor = near_power_of_two(-upper), lower_factor = near_power_of_two(-lower);
    // Two factors, because the power goes beyond what float32 holds.
    const float upper_rest = near_power_of_two(-upper - max(-126, min(127, -upper)));
    const float lower_rest = near_power_of_two(-lower - max(-126, min(127, -lower)));
    store(sum, block_m, [&](int j, int i) {
      return sum[4 * j + i] * (i < 2 ? upper_factor : lower_factor) * (i < 2 ? upper_rest : lower_rest);
    });
  }

 private:
  static constexpr int kBlockRows = kSplitGroups * kSplitRows;

  template <int kSums, class Scaled>
  __device__ __forceinline__ void store(const float (&)[kSums], int block_m, const Scaled& scaled) const {
    float* const place = place_ + block_m * kBlockRows * gemm_.ldc;
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      if (j * kCnnLayerWinogradBlockTiles >= columns_) return;
      __stcs(reinterpret_cast<float4*>(place + j * kCnnLayerWinogradBlock),
             make_float4(scaled(j, 0), scaled(j, 1), scaled(j, 2), scaled(j, 3)));
    }
  }

  const GemmSplitArguments& gemm_;
  int rows_, columns_;  ///< that are left
  float* place_;
  int shifts_[kShape.blocks_m];  ///< of row g in the lower half, of g + 8 in the upper one
};

#else
template <GemmSplitShape kShape>
class StoreProducts;
#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
