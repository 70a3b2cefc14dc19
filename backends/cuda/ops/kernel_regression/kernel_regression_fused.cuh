// kernel_regression, fused: products of centred rows by gemm's register tiles, whose distances stay in registers.
//
//   a block's 2048 training rows, packed          A group computes `queries` x 2048 distances, a tile of rows after the
//        tile      tile   ...                     other: products as gemm's register variant computes them, of rows
//       +---------+---------+---                  packed so that k lies across. Then each thread makes distances of the
//    q  | group   | group   |                     products that it holds, and the queries meet the rows that are near
//       +---------+---------+---                  (kernel_regression_meeting.cuh).
//
// Every training row is read once a tile of queries, the queries' rows once a tile of training rows: from L2, since so
// many queries as it holds go through all blocks before others do.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/gemm/gemm_register_stages.cuh"
#include "ops/gemm/gemm_register_warps.cuh"
#include "ops/kernel_regression/kernel_regression_meeting.cuh"
#include "ops/kernel_regression/kernel_regression_piece.cuh"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"

namespace tessera::cuda {

/// A small tile of float32 has as many warps as a large one, each thread of which holds fewer products. A large one of
/// float64 has large warps: they read the fewest numbers from shared memory for a product, and leave the meeting
/// registers. All others are gemm's.
template <class T, int kQueries, int kRows>
struct RegressionWarp : GemmRegisterWarp<T, kQueries, kRows> {};
template <>
struct RegressionWarp<float, 32, 128> : FmaWarp<32, 32, 8, true, true> {};
template <>
struct RegressionWarp<float, 64, 128> : FmaWarp<32, 64, 4, true> {};
template <>
struct RegressionWarp<double, 32, 64> : MmaWarp<32, 16> {};
template <>
struct RegressionWarp<double, 112, 64> : MmaWarp<112, 16> {};
template <>
struct RegressionWarp<double, 128, 64> : MmaWarp<64, 32> {};

/// The squared lengths of a tile's rows, in shared memory.
template <class T, int kQueries, int kRows>
struct RegressionLengths {
  T queries[kQueries];
  T rows[kRows];
};

/// What a group has in shared memory behind the stages.
template <class T, GemmRegisterShape kShape>
struct RegressionFusedShared {
  alignas(16) RegressionLengths<T, kShape.tile_m, kShape.tile_n> lengths;
  RegressionMet<T, kShape.tile_m, kShape.tile_n, kShape.threads(),
                keeps_tile_in_stages(kShape, sizeof(T), kAsynchronousCopies)>
      met;
};

/// Four neighbouring distances of a query, as keys.
template <class T>
class RegressionKeys {
 public:
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;

  __device__ RegressionKeys(const T* distances, int first_row) : first_row_(first_row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) keys_[i] = Keys::of(distances[i]);
  }
  [[nodiscard]] __device__ __forceinline__ Key least() const {
    return min(min(keys_[0], keys_[1]), min(keys_[2], keys_[3]));
  }
  static constexpr int kGroups = 1, kGroupKeys = 4;
  [[nodiscard]] __device__ __forceinline__ int word(int) const {
    return first_row_ / 32;
  }
  [[nodiscard]] __device__ __forceinline__ int shift() const {
    return first_row_ % 32;
  }
  [[nodiscard]] static __device__ __forceinline__ constexpr int offset(int i) {
    return i;
  }
  [[nodiscard]] __device__ __forceinline__ Key key(int, int i) const {
    return keys_[i];
  }

 private:
  Key keys_[4];
  int first_row_;
};

/// The distances of a warp's tile, as meet_tile() wants them: a run is four neighbours. They take the products' place.
template <class T, class Tile>
class RegressionDistances {
 public:
  template <class Lengths>
  __device__ RegressionDistances(Tile& tile, const Lengths& lengths, int lane, int first_query, int first_row)
      : tile_(tile), lane_(lane), first_query_(first_query), first_row_(first_row) {
    tile.change_all(lane, [&](int query, int row, T& product) {
      const T squared = fma(T(-2), product, lengths.queries[first_query + query] + lengths.rows[first_row + row]);
      // Not below 0.
      product = RegressionKey<T>::number(max(RegressionKey<T>::of(squared), typename RegressionKey<T>::Key{0}));
    });
  }

  template <class Visit>
  __device__ __forceinline__ void for_runs(Visit visit) const {
    tile_.store_all(lane_, [&](int query, int row, const T* distances) {
      visit(first_query_ + query, RegressionKeys<T>(distances, first_row_ + row));
    });
  }

 private:
  const Tile& tile_;
  int lane_;
  int first_query_;
  int first_row_;
};

template <class T, GemmRegisterShape kShape>
__device__ __forceinline__ void regress_fused(const RegressionTileArguments<T>& regression) {
  using Warp = RegressionWarp<T, kShape.tile_m, kShape.tile_n>;
  constexpr int kThreads = kShape.threads();
  constexpr int kStages = kAsynchronousCopies ? kShape.stages : 2;
  constexpr GemmLayout kLayout = GemmLayout::across;
  using StageA = typename Warp::template StageA<stage_queries(kShape), kShape.depth, kLayout>;
  using StageB = typename Warp::template StageB<kShape.tile_n, kShape.depth, kLayout>;
  using OperandA = Operand<StageA, kThreads, kChunk<T>, kStages>;
  using OperandB = Operand<StageB, kThreads, kChunk<T>, kStages>;
  using Tile = typename Warp::template Tile<StageA, StageB>;
  using Shared = RegressionFusedShared<T, kShape>;
  static_assert(kShape.tile_m == Warp::kRows * kShape.warps_m && kShape.tile_n == Warp::kColumns * kShape.warps_n);
  static_assert(sizeof(Shared) + (OperandA::kSize + OperandB::kSize) * sizeof(T) ==
                shared_bytes_of_fused(kShape, sizeof(T), kAsynchronousCopies));
  static_assert(kShape.slices == 1 && kShape.tile_m <= kThreads && kLeastBlockRows<T> % kShape.tile_n == 0);
  static_assert(kRegressionPadding % kShape.tile_n == 0);
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  T* const stages = reinterpret_cast<T*>(shared_bytes_of_block);
  Shared& shared = *reinterpret_cast<Shared*>(stages + OperandA::kSize + OperandB::kSize);

  let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_query = thread / 32 / kShape.warps_n * Warp::kRows;
  const int warp_row = thread / 32 % kShape.warps_n * Warp::kColumns;
  const RegressionPiece piece(regression, static_cast<int>(blockIdx.x));
  const std::int64_t block = piece.block;
  const std::int64_t first_query = piece.tile * kShape.tile_m;
  const std::int64_t block_row = block * regression.block_rows;
  const std::int64_t left = regression.training_rows - block_row;
  const std::int64_t end = block_row + (left < regression.block_rows ? left : regression.block_rows);
  const int count = static_cast<int>((regression.depth + kShape.depth - 1) / kShape.depth);
  const int remainder = static_cast<int>(regression.depth - static_cast<std::int64_t>(count - 1) * kShape.depth);
  wait_for_kernel_before();

  // What a tile keeps lies where its stages were, which the barriers of its meeting keep apart.
  MeetingQuery<T, decltype(shared.met)> mine(regression, shared.met, block, first_query, thread,
                                             reinterpret_cast<typename RegressionKey<T>::Key*>(stages));
  // Behind them there is no memory. What is computed of queries that are not there nobody looks at.
  const std::int64_t packed_queries = regression.query_step;
  for (int query = thread; query < kShape.tile_m; query += kThreads) {
    const bool is_packed = first_query + query < packed_queries;
    shared.lengths.queries[query] = is_packed ? regression.query_lengths[first_query + query] : T(0);
  }
#pragma unroll 1
  for (std::int64_t row = block_row; row < end; row += kShape.tile_n) {
    // The barriers among the stages stand between this and those who read it.
    for (int i = thread; i < kShape.tile_n; i += kThreads) shared.lengths.rows[i] = regression.row_lengths[row + i];
    Tile tile(lane, warp_query, warp_row, 0);
    OperandA a(stages, regression.queries, regression.query_step, first_query, packed_queries, 0);
    OperandB b(stages + OperandA::kSize, regression.rows, regression.row_step, row, row + kShape.tile_n, 0);
    multiply_stages<kStages, kShape.depth>(tile, a, b, count, remainder);
    meet_tile(regression, shared.met, mine,
              RegressionDistances<T, Tile>(tile, shared.lengths, lane, warp_query, warp_row), row);
  }
  mine.write(regression);
}

}  // namespace tessera::cuda
