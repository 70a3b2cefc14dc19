// kernel_regression, fused_split: float32 products of centred rows by the fp16 tensor cores of Hopper
// (cuda_split_products.cuh), whose distances stay in registers.
//
//   a cluster, two blocks of 128 queries each    A cluster takes one piece after the other, a tile of its queries and a
//                                                block of training rows, 128 rows at a time. Each of a block's two
//   block 0, 64 queries of group 0  | 128 rows   warp groups multiplies 64 queries by them, and makes distances of its
//            64 queries of group 1  |            sums: a query's state then belongs to four lanes from a piece's
//   block 1, 64 queries of group 0  | the same   beginning to its end (kernel_regression_warp_meeting.cuh). Single
//            64 queries of group 1  |            threads fetch panels of queries and rows, a warp what else rows have.
//
// Both blocks need the same rows: each fetches a half of a panel for both. The tensor cores take 19,000 clocks for the
// 784 columns of a tile; behind its last panel they wait for the group that meets its rows first, while the other one's
// meeting passes beside the next panel. On an H200 1,000 queries of 60000 x 784 take 0.56 ms, 10,000 take 5.2 ms.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_split_products.cuh"
#include "ops/kernel_regression/kernel_regression_piece.cuh"
#include "ops/kernel_regression/kernel_regression_split_shapes.h"
#include "ops/kernel_regression/kernel_regression_warp_meeting.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What a block has in shared memory.
template <SplitShape kShape>
struct RegressionSplitShared {
  static constexpr int kSlots = kRegressionSplitSlots;
  static constexpr int kWarps = kSplitGroups * 4;

  SplitShared<kShape> rings;
  alignas(16) double targets[kSlots][kWarpRows];  ///< as WarpMeeting wants them
  alignas(16) float lengths[kSlots][kWarpRows];
  alignas(16) float factors[kSlots][kWarpRows];
  RegressionWarpLists<float> lists[kWarps];
  SharedBarrier rows_full[kSlots], rows_empty[kSlots];

  /// By one thread.
  __device__ __forceinline__ void initialise_barriers() {
    for (int i = 0; i < kSlots; ++i) {
      initialise(rows_full[i], 32);
      initialise(rows_empty[i], kWarps);
    }
    rings.initialise_barriers();
  }
};

/// The pieces of a cluster, and its blocks' part of them.
template <SplitShape kShape>
class RegressionSplitWork {
 public:
  __device__ explicit RegressionSplitWork(const RegressionTileArguments<float>& regression)
      : regression_(regression), rank_(kShape.cluster() > 1 ? block_of_cluster() : 0) {}
  [[nodiscard]] __device__ __forceinline__ unsigned rank() const { return rank_; }
  /// Calls visit(first query of this block, block of training rows, its tiles) for each.
  template <class Visit>
  __device__ __forceinline__ void for_pieces(Visit visit) const {
    const int pieces = blocks_of(regression_) * static_cast<int>(regression_.query_tiles);
#pragma unroll 1
    for (int number = static_cast<int>(blockIdx.x); number < pieces; number += static_cast<int>(gridDim.x)) {
      const RegressionPiece piece(regression_, number);
      const std::int64_t left = regression_.training_rows - piece.block * regression_.block_rows;
      const auto rows = static_cast<int>(left < regression_.block_rows ? left : regression_.block_rows);
      visit((piece.tile * kShape.cluster_m + rank_) * kShape.tile_m(), piece.block, (rows + kWarpRows - 1) / kWarpRows);
    }
  }

 private:
  const RegressionTileArguments<float>& regression_;
  unsigned rank_;
};

/// Steps of k of a packed row, in panels.
__device__ __forceinline__ int panels_of(const RegressionTileArguments<float>& regression) {
  return static_cast<int>(regression.depth / kSplitPlane);
}
/// Where the panels of a block of rows lie that begins with this row.
__device__ __forceinline__ const unsigned char* panels_at(const RegressionTileArguments<float>& regression,
                                                          const float* rows, std::int64_t row) {
  static_assert(kSplitRowBytes == kSplitPlane * sizeof(float));
  return reinterpret_cast<const unsigned char*>(rows + row * regression.depth);
}

/// One thread fetches the block's queries, anew for each tile of training rows.
template <SplitShape kShape>
__device__ __forceinline__ void fetch_split_queries(const RegressionTileArguments<float>& regression,
                                                    RegressionSplitShared<kShape>& shared) {
  RingPlace<kShape.stages_a> stage;
  RegressionSplitWork<kShape>(regression).for_pieces([&](std::int64_t query, std::int64_t, int tiles) {
    const unsigned char* const panels = panels_at(regression, regression.queries, query);
    for (int tile = 0; tile < tiles; ++tile) {
      fetch_panels_of_a(shared.rings, stage, 0, panels, panels_of(regression), 0);
    }
  });
}

/// One thread fetches training rows, of the part that is this block's of what the cluster needs.
template <SplitShape kShape>
__device__ __forceinline__ void fetch_split_rows(const RegressionTileArguments<float>& regression,
                                                 RegressionSplitShared<kShape>& shared) {
  RingPlace<kShape.stages_b> stage;
  const RegressionSplitWork<kShape> work(regression);
  work.for_pieces([&](std::int64_t, std::int64_t block, int tiles) {
    for (int tile = 0; tile < tiles; ++tile) {
      const std::int64_t row = block * regression.block_rows + tile * kWarpRows;
      fetch_panels_of_b(shared.rings, stage, panels_at(regression, regression.rows, row), panels_of(regression),
                        work.rank());
    }
  });
}

/// One warp brings the lengths, factors and targets of rows.
template <SplitShape kShape>
__device__ __forceinline__ void fetch_split_notes(const RegressionTileArguments<float>& regression,
                                                  RegressionSplitShared<kShape>& shared) {
  RingPlace<kRegressionSplitSlots> slot;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  RegressionSplitWork<kShape>(regression).for_pieces([&](std::int64_t, std::int64_t block, int tiles) {
    for (int tile = 0; tile < tiles; ++tile) {
      const std::int64_t first = block * regression.block_rows + tile * kWarpRows;
      wait(shared.rows_empty[slot.place], slot.parity ^ 1);
#pragma unroll 1  // there is time, and few registers
      for (int i = lane; i < kWarpRows; i += 32) {
        const std::int64_t row = first + i;
        const float target = row < regression.training_rows ? regression.targets[row * regression.outputs] : 0;
        shared.lengths[slot.place][i] = regression.row_lengths[row];
        shared.factors[slot.place][i] = regression.row_factors[row];
        shared.targets[slot.place][place_of_target(i)] = static_cast<double>(target);
      }
      arrive(shared.rows_full[slot.place]);
      slot.advance();
    }
  });
}

/// A query as a lane needs it to make distances.
struct RegressionSplitQuery {
  float length;
  float factor;  ///< of a sum that has been scaled back for its row: -2 and what scales it back for the query

  __device__ RegressionSplitQuery(const RegressionTileArguments<float>& regression, std::int64_t query)
      : length(regression.query_lengths[query]), factor(-2 * regression.query_factors[query]) {}
  [[nodiscard]] __device__ __forceinline__ int key(float sum, float row_factor, float row_length) const {
    // Not below 0. An infinite length makes it infinite: sums and factors are finite.
    return max(RegressionKey<float>::of(fmaf(sum * row_factor, factor, length + row_length)), 0);
  }
};

/// Keys of the queries g and g + 8; the lengths and factors of the tile's rows lie in shared memory.
__device__ __forceinline__ void make_keys_of_sums(int (&keys)[64], const float (&sum)[64],
                                                  const RegressionSplitQuery& upper, const RegressionSplitQuery& lower,
                                                  const float* lengths, const float* factors) {
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < 64; i += 4) {
    const float2 length = *reinterpret_cast<const float2*>(lengths + i * 2 + column);
    const float2 factor = *reinterpret_cast<const float2*>(factors + i * 2 + column);
    keys[i] = upper.key(sum[i], factor.x, length.x);
    keys[i + 1] = upper.key(sum[i + 1], factor.y, length.y);
    keys[i + 2] = lower.key(sum[i + 2], factor.x, length.x);
    keys[i + 3] = lower.key(sum[i + 3], factor.y, length.y);
  }
}

/// A warp group multiplies its half of the block's queries by training rows, and meets them.
template <SplitShape kShape, bool kIsEuclidean, bool kHasSumsInMemory>
__device__ __forceinline__ void meet_split(const RegressionTileArguments<float>& regression,
                                           RegressionSplitShared<kShape>& shared) {
  static_assert(kShape.blocks_m == 1 && kShape.cluster_n == 1 && kShape.tile_n == kWarpRows);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const WarpMeeting<float, kIsEuclidean, kHasSumsInMemory> meeting(regression, shared.lists[warp]);
  SplitMultiplier<kShape, true> multiplier(shared.rings);
  RingPlace<kRegressionSplitSlots> slot;
  RegressionSplitWork<kShape>(regression).for_pieces([&](std::int64_t first, std::int64_t block, int tiles) {
    const std::int64_t query = first + warp * 16 + lane / 4;
    const RegressionSplitQuery of_upper(regression, query), of_lower(regression, query + 8);
    WarpQuery<float> upper, lower;
    meeting.begin(regression, upper, block, query);
    meeting.begin(regression, lower, block, query + 8);
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      float sum[1][64];
      multiplier.multiply_steps(regression.steps, sum);
      wait(shared.rows_full[slot.place], slot.parity);
      int keys[64];
      make_keys_of_sums(keys, sum[0], of_upper, of_lower, shared.lengths[slot.place], shared.factors[slot.place]);
      meeting.meet(regression, upper, lower, keys, shared.targets[slot.place], block, tile, query);
      if (lane == 0) arrive(shared.rows_empty[slot.place]);
      slot.advance();
    }
    meeting.end(regression, upper, block, query, 0);
    meeting.end(regression, lower, block, query + 8, 1);
  });
}

#endif  // TESSERA_CUDA_IS_HOPPER

template <SplitShape kShape, bool kIsEuclidean, bool kHasSumsInMemory>
__device__ __forceinline__ void regress_split(const RegressionTileArguments<float>& regression) {
#if defined(TESSERA_CUDA_IS_HOPPER)
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  auto& shared = *reinterpret_cast<RegressionSplitShared<kShape>*>(shared_bytes_of_block);
  static_assert(sizeof(shared) <= regression_split_bytes(kShape));
  if (threadIdx.x == 0) shared.initialise_barriers();
  synchronise_cluster();
  wait_for_kernel_before();
  let_next_kernel_start();
  const int warp = static_cast<int>(threadIdx.x) / 32 - kSplitGroups * 4;
  if (warp < 0) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    meet_split<kShape, kIsEuclidean, kHasSumsInMemory>(regression, shared);
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 2) {
      fetch_split_notes(regression, shared);
    } else if (warp < 2 && threadIdx.x % 32 == 0) {
      if (warp == 0) {
        fetch_split_rows(regression, shared);
      } else {
        fetch_split_queries(regression, shared);
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
