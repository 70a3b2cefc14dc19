// gemm's variants split and scaled_half: products of prepared operands by warp groups (gemm_split_prepare.cuh).
//
// How a tile is multiplied: cuda_split_products.cuh.
//
// The largest tile is 256 x 128: each group's 64 x 128 sums of the tensor cores serve two blocks of rows in turn, so
// that 192 registers hold all sums, and two blocks of a cluster fetch A for each other. On an H200 that multiplies at
// 205 to 235 TFLOP/s of float32 at 4096 cubed, three times as many of fp16, by how long the card's power has lasted:
// the tensor cores are busy for 85 to 92 % of the clocks that it then has.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_split_products.cuh"
#include "ops/gemm/gemm_split_fetch.cuh"
#include "ops/gemm/gemm_split_store.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// A warp group computes its rows of the block's tiles. A Store is made for each tile, and called with the sums of each
/// of the group's blocks of rows (StoreSums). Where it is short (kBesideProducts), all but the last block's are stored
/// while the last products go on: with few panels a tile, storing would else take a tenth of the time.
template <GemmSplitShape kShape, bool kHasRest, class Store>
__device__ __forceinline__ void multiply_split(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int group = warp / 4;
  SplitMultiplier<kShape, kHasRest> multiplier(shared);
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const Store store(gemm, tile, tile.row * kShape.tile_m() + group * kSplitRows + warp % 4 * 16,
                      tile.column * kShape.tile_n);
    float total[kShape.blocks_m][kShape.tile_n / 2];
    const auto store_from_to = [&](int first, int end) {
#pragma unroll
      for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
        if (block_m >= first && block_m < end) store(total[block_m], block_m);
      }
    };
    constexpr int kEarly = Store::kBesideProducts ? kShape.blocks_m - 1 : 0;
    if constexpr (kEarly > 0) {
      multiplier.multiply_tile(gemm.panels, total, [&] { store_from_to(0, kEarly); });
    } else {
      multiplier.multiply_tile(gemm.panels, total);
    }
    store_from_to(kEarly, kShape.blocks_m);
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

template <GemmSplitShape kShape, bool kHasRest, class Store>
__device__ __forceinline__ void multiply_prepared(const GemmSplitArguments& gemm) {
#if defined(TESSERA_CUDA_IS_HOPPER)
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  auto& shared = *reinterpret_cast<SplitShared<kShape>*>(shared_bytes_of_block);
  static_assert(sizeof(shared) <= kShape.shared_bytes());
  if (threadIdx.x == 0) shared.initialise_barriers();
  synchronise_cluster();
  wait_for_kernel_before();
  let_next_kernel_start();
  const int warp = static_cast<int>(threadIdx.x) / 32 - kSplitGroups * 4;
  if (warp < 0) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    multiply_split<kShape, kHasRest, Store>(gemm, shared);
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 32 == 0) {
      if (warp == 0) {
        fetch_b(gemm, shared);
      } else if (warp <= kShape.blocks_m) {
        fetch_a(gemm, shared, warp - 1);
      }
    }
  }
  __syncwarp();
  synchronise_cluster();  // the other block may still write here
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
