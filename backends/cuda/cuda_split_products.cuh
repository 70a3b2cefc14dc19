// Products of split rows by warp groups, whoever wants them: gemm, cnn_layer, kernel_regression.
//
//   a block's tile                          Three kinds of work go on at once: single threads fetch panels of A and B,
//   rows of group 0, block 0  -> sums       each of two warp groups starts the products of one panel, twelve
//   rows of group 1, block 0  -> sums       instructions for 64 steps of k, and while they run the other group adds
//   rows of group 0, block 1    | the same  what its last ones gave to float32 sums. They take turns, so that the
//   rows of group 1, block 1    | registers tensor cores always have the next panel's products before them.
//
// x = x1 + x2 with x1 the rounded element and x2 what rounding left: x2 y1 + x1 y2 + x1 y1, the small ones first. The
// tensor cores cut their sums off instead of rounding them; adding them up in float32 after each panel keeps that to
// what few products lose. A panel serves three products, so each byte that is fetched is used three times.
#pragma once

#include "cuda_split_rings.cuh"
#include "cuda_warpgroup_products.cuh"

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
__device__ __forceinline__ void start_products(float (&sum)[60], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x120(sum, a, b, adds);
}
__device__ __forceinline__ void start_products(float (&sum)[56], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x112(sum, a, b, adds);
}
__device__ __forceinline__ void start_products(float (&sum)[36], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x72(sum, a, b, adds);
}
__device__ __forceinline__ void start_products(float (&sum)[32], std::uint64_t a, std::uint64_t b, bool adds) {
  multiply_64x64(sum, a, b, adds);
}

/// Instructions along k of a plane.
inline constexpr int kSplitSteps = kSplitPlane / kSplitStep;

/// What is done while products go on, where there is nothing to do.
struct NothingMeanwhile {
  __device__ __forceinline__ void operator()() const {}
};

/// Multiplies the first kSteps steps of a panel of each operand, after which it is the other group's turn: its products
/// go on while this one adds. meanwhile() is called while the products of this one go on.
template <int kTileN, bool kHasRest, int kSteps = kSplitSteps, class Meanwhile = NothingMeanwhile>
__device__ __forceinline__ void multiply_panel(float (&sum)[kTileN / 2], std::uint64_t a, std::uint64_t b, int group,
                                               const Meanwhile& meanwhile = {}) {
  static_assert(kHasRest || kSteps == kSplitSteps, "what stands in the rest's place is k as well");
  // In descriptors an address is a sixteenth. A step is two chunks of all rows.
  constexpr std::uint64_t kStepOfA = 2 * kSplitRows, kStepOfB = 2 * kTileN;
  constexpr std::uint64_t kPlaneOfA = kSplitRows * kSplitPlane * 2 / 16, kPlaneOfB = kTileN * kSplitPlane * 2 / 16;
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
  meanwhile();
  wait_for_products<0>();
  hold(sum);
}

/// One of a block's warp groups, which multiplies its rows of one tile after the other. Both are made at the same point
/// and multiply as many tiles of as many panels.
template <SplitShape kShape, bool kHasRest>
class SplitMultiplier {
 public:
  __device__ __forceinline__ explicit SplitMultiplier(SplitShared<kShape>& shared)
      : shared_(shared), b_first_(operand_in_chunks(shared.b, kShape.tile_n * 16)), group_(group_of_thread()) {
    if (group_ == 1) pass_turn(group_);
  }

  /// Sums are spread as of 64 x n products (cuda_warpgroup_products.cuh), for each of the group's blocks of rows.
  __device__ __forceinline__ void multiply_tile(int panels, float (&total)[kShape.blocks_m][kShape.tile_n / 2]) {
    clear(total);
#pragma unroll 1
    for (int panel = 0; panel < panels; ++panel) add_panel(total);
  }

  /// The same of at least one panel, and calls meanwhile() while the last products go on: the sums of all blocks of
  /// rows but the last are known then.
  template <class Meanwhile>
  __device__ __forceinline__ void multiply_tile(int panels, float (&total)[kShape.blocks_m][kShape.tile_n / 2],
                                                const Meanwhile& meanwhile) {
    clear(total);
#pragma unroll 1
    for (int panel = 1; panel < panels; ++panel) add_panel(total);
    add_panel(total, meanwhile);
  }

  /// The same of so many steps of kSplitStep of k: zeros that fill up the last panel take no time.
  __device__ __forceinline__ void multiply_steps(int steps, float (&total)[kShape.blocks_m][kShape.tile_n / 2]) {
    multiply_tile(steps / kSplitSteps, total);
    switch (steps % kSplitSteps) {
      case 1: add_panel<1>(total); break;
      case 2: add_panel<2>(total); break;
      case 3: add_panel<3>(total); break;
      default: break;
    }
  }

 private:
  static __device__ __forceinline__ void clear(float (&total)[kShape.blocks_m][kShape.tile_n / 2]) {
#pragma unroll
    for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
#pragma unroll
      for (int i = 0; i < kShape.tile_n / 2; ++i) total[block_m][i] = 0;
    }
  }

  /// Adds the products of the next panel to the sums, or of its first kSteps steps.
  template <int kSteps = kSplitSteps, class Meanwhile = NothingMeanwhile>
  __device__ __forceinline__ void add_panel(float (&total)[kShape.blocks_m][kShape.tile_n / 2],
                                            const Meanwhile& meanwhile = {}) {
    wait(shared_.b_full[stage_b_.place], stage_b_.parity);
#pragma unroll
    for (int block_m = 0; block_m < kShape.blocks_m; ++block_m) {
      float sum[kShape.tile_n / 2];
      wait(shared_.a_full[block_m][stage_a_.place], stage_a_.parity);
      const std::uint64_t a = operand_in_chunks(shared_.a[block_m][stage_a_.place][group_], kSplitRows * 16);
      const std::uint64_t b = b_first_ + static_cast<std::uint64_t>(stage_b_.place) * kPanelOfB;
      if (block_m == kShape.blocks_m - 1) {
        multiply_panel<kShape.tile_n, kHasRest, kSteps>(sum, a, b, group_, meanwhile);
      } else {
        multiply_panel<kShape.tile_n, kHasRest, kSteps>(sum, a, b, group_);
      }
      release(shared_.a_empty[block_m][stage_a_.place], kShape.cluster_n);
      if (block_m == kShape.blocks_m - 1) release(shared_.b_empty[stage_b_.place], kShape.cluster_m);
#pragma unroll
      for (int i = 0; i < kShape.tile_n / 2; ++i) total[block_m][i] += sum[i];
    }
    stage_a_.advance();
    stage_b_.advance();
  }

  static constexpr std::uint64_t kPanelOfB = kShape.tile_n * kSplitRowBytes / 16;

  [[nodiscard]] static __device__ __forceinline__ int group_of_thread() {
    return static_cast<int>(threadIdx.x) / 128;
  }
  /// A block gives a panel back to those that fetch for it; they are neighbours, whichever way the cluster lies.
  static __device__ __forceinline__ void release(SharedBarrier& empty, int blocks) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane >= blocks) return;
    if (blocks == 1) {
      arrive(empty);
    } else {
      arrive_at_block(empty, static_cast<unsigned>(lane));
    }
  }

  SplitShared<kShape>& shared_;
  std::uint64_t b_first_;
  int group_;
  RingPlace<kShape.stages_a> stage_a_;
  RingPlace<kShape.stages_b> stage_b_;
};

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
