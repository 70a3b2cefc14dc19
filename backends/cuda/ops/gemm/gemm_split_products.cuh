// gemm's variants split and scaled_half: products of prepared operands by warp groups (gemm_split_prepare.cuh).
//
//   a block's tile of C                     Three kinds of work go on at once: single threads fetch panels of A and B,
//   rows of group 0, block 0  -> sums       each of two warp groups starts the products of one panel, twelve
//   rows of group 1, block 0  -> sums       instructions for 64 steps of k, and while they run the other group adds
//   rows of group 0, block 1    | the same  what its last ones gave to float32 sums. They take turns, so that the
//   rows of group 1, block 1    | registers tensor cores always have the next panel's products before them.
//
// split, x = x1 + x2 with x1 the rounded element and x2 what rounding left: x2 y1 + x1 y2 + x1 y1, the small ones
// first. The tensor cores cut their sums off instead of rounding them; adding them up in float32 after each panel keeps
// that to what few products lose. A panel serves three products, so each byte that is fetched is used three times.
//
// The largest tile is 256 x 128: each group's 64 x 128 sums of the tensor cores serve two blocks of rows in turn, so
// that 192 registers hold all sums, and two blocks of a cluster fetch A for each other. On an H200 that multiplies at
// 205 to 235 TFLOP/s of float32 at 4096 cubed, three times as many of fp16, by how long the card's power has lasted:
// the tensor cores are busy for 85 to 92 % of the clocks that it then has.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_warpgroup_products.cuh"
#include "ops/gemm/gemm_split_fetch.cuh"
#include "ops/gemm/gemm_split_store.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// The two groups take turns at the barriers in hardware 1 and 2: one is waited for by its group, and the other group
/// arrives there.
__device__ __forceinline__ void wait_for_turn(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(kSplitGroups * 128) : "memory");
}
__device__ __forceinline__ void pass_turn(int group) {
  asm volatile("bar.arrive %0, %1;" ::"r"(1 + (group ^ 1)), "n"(kSplitGroups * 128) : "memory");
}

__device__ __forceinline__ void start_products(float (&sum)[64], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x128(sum, a, b, adds);
}
__device__ __forceinline__ void start_products(float (&sum)[32], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x64(sum, a, b, adds);
}

/// Multiplies a panel of each operand, after which it is the other group's turn: its products go on while this one
/// adds.
template <int kTileN, bool kHasRest>
__device__ __forceinline__ void multiply_panel(float (&sum)[kTileN / 2], std::uint64_t a, std::uint64_t b, int group) {
  // In descriptors an address is a sixteenth. A step is 16 of k: two chunks of all rows.
  constexpr std::uint64_t kStepOfA = 2 * kSplitRows, kStepOfB = 2 * kTileN;
  constexpr std::uint64_t kPlaneOfA = kSplitRows * kSplitPlane * 2 / 16, kPlaneOfB = kTileN * kSplitPlane * 2 / 16;
  constexpr int kSteps = kSplitPlane / 16;
  wait_for_turn(group);
  begin_products();
  if constexpr (kHasRest) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) start_products(sum, a + kPlaneOfA + i * kStepOfA, b + i * kStepOfB, i != 0);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) start_products(sum, a + i * kStepOfA, b + kPlaneOfB + i * kStepOfB, true);
  } else {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      start_products(sum, a + kPlaneOfA + i * kStepOfA, b + kPlaneOfB + i * kStepOfB, i != 0);
    }
  }
#pragma unroll
  for (int i = 0; i < kSteps; ++i) start_products(sum, a + i * kStepOfA, b + i * kStepOfB, true);
  close_products();
  pass_turn(group);
  wait_for_products<0>();
  hold(sum);
}

/// A warp group computes its rows of the block's tiles.
template <GemmSplitShape kShape, bool kHasRest>
__device__ __forceinline__ void multiply_split(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int group = warp / 4;
  RingPlace<kShape.stages_a> stage_a;
  RingPlace<kShape.stages_b> stage_b;
  const std::uint64_t b_first = operand_in_chunks(shared.b, kShape.tile_n * 16);
  constexpr std::uint64_t kPanelOfB = kShape.tile_n * kSplitRowBytes / 16;
  // A block gives a panel back to those that fetch for it; they are neighbours, whichever way the cluster lies.
  const auto release = [&](SharedBarrier& empty, int blocks) {
    if (lane >= blocks) return;
    if (blocks == 1) {
      arrive(empty);
    } else {
      arrive_at_block(empty, static_cast<unsigned>(lane));
    }
  };
  if (group == 1) pass_turn(group);
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    float total[kShape.blocks_m][kShape.tile_n / 2];
#pragma unroll
    for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
#pragma unroll
      for (int i = 0; i < kShape.tile_n / 2; ++i) total[block_m][i] = 0;
    }
#pragma unroll 1
    for (int panel = 0; panel < gemm.panels; ++panel) {
      wait(shared.b_full[stage_b.place], stage_b.parity);
#pragma unroll
      for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
        float sum[kShape.tile_n / 2];
        wait(shared.a_full[block_m][stage_a.place], stage_a.parity);
        const std::uint64_t a = operand_in_chunks(shared.a[block_m][stage_a.place][group], kSplitRows * 16);
        const std::uint64_t b = b_first + static_cast<std::uint64_t>(stage_b.place) * kPanelOfB;
        multiply_panel<kShape.tile_n, kHasRest>(sum, a, b, group);
        release(shared.a_empty[block_m][stage_a.place], kShape.cluster_n);
        if (block_m == kShape.blocks_m - 1) release(shared.b_empty[stage_b.place], kShape.cluster_m);
#pragma unroll
        for (int i = 0; i < kShape.tile_n / 2; ++i) total[block_m][i] += sum[i];
      }
      stage_a.advance();
      stage_b.advance();
    }
    const SplitTile tile = tiles.tile();
    const std::int64_t row = tile.row * kShape.tile_m() + group * kSplitRows + warp % 4 * 16;
#pragma unroll
    for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
      store_sums(gemm, total[block_m], tile.matrix, row + block_m * kSplitGroups * kSplitRows,
                 tile.column * kShape.tile_n);
    }
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

template <GemmSplitShape kShape, bool kHasRest>
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
    multiply_split<kShape, kHasRest>(gemm, shared);
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
