// kernel_regression, exact_bytes: products of bytes by the tensor cores, in tiles whose distances stay in registers.
//
//   a block's 2048 training rows, packed          A group computes `queries` x 2048 distances, a tile of rows after the
//        tile      tile   ...                     other. Stages of 64 or 128 bytes of each row of both operands go
//       +---------+---------+---                  round in shared memory, through the tiles' ends: the next tile's
//    q  | warp  w | warp  w |                     first stages arrive while this tile's queries meet its rows. A warp
//    u  +---------+---------+---                  holds 64 x 64 products or so: 64 bytes of either operand read from
//    e  | warp  w | warp  w |                     shared memory serve 64 products of each.
//       +---------+---------+---
//
// Every training row is read once a tile of queries, the queries' rows once a tile of training rows, from L2 for the
// most part: groups that follow each other share a block of training rows.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_matrix_products.cuh"
#include "ops/kernel_regression/kernel_regression_exact_bytes_fetch.cuh"

namespace tessera::cuda {

/// A warp's products: blocks of 16 x 8, spread as cuda_matrix_products.cuh says.
template <RegressionByteShape kShape>
class RegressionBytesTile {
 public:
  static constexpr int kQueries = kShape.queries / kShape.warps_q, kRows = kShape.rows / kShape.warps_r;
  static constexpr int kBlocksQ = kQueries / 16, kBlocksR = kRows / 8;
  static_assert(kQueries % 16 == 0 && kRows % 32 == 0);
  using Fetch = RegressionBytesFetch<kShape>;

  __device__ explicit RegressionBytesTile(int warp)
      : lane_(static_cast<int>(threadIdx.x) % 32),
        first_query_(warp / kShape.warps_r * kQueries),
        first_row_(warp % kShape.warps_r * kRows),
        queries_at_(Fetch::place(first_query_ + lane_ % 16, lane_ / 16)),
        rows_at_(Fetch::place(kShape.queries + first_row_ + lane_ % 8 + lane_ / 16 * 8, lane_ / 8 % 2)) {}

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kBlocksQ; ++i) {
#pragma unroll
      for (int j = 0; j < kBlocksR; ++j) {
#pragma unroll
        for (int element = 0; element < 4; ++element) products_[i][j][element] = 0;
      }
    }
  }

  /// Adds the products of a stage's first `steps` steps.
  __device__ __forceinline__ void multiply(const unsigned char* stage, int steps) {
    constexpr int kSteps = kShape.stage_bytes / kStepBytes;
    if (steps == kSteps) {
      Words words[2];
      load(words[0], stage, 0);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step + 1 < kSteps) load(words[(step + 1) % 2], stage, step + 1);
        multiply(words[step % 2]);
      }
      return;
    }
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      Words words;
      load(words, stage, step);
      multiply(words);
    }
  }

  /// The distances of the warp's tile, as meet_tile() wants them: a run is a query and all the thread's rows.
  class Distances {
   public:
    __device__ Distances(const RegressionBytesTile& tile, const int* row_lengths)
        : tile_(tile), row_lengths_(row_lengths + tile.first_row_ + tile.lane_ % 4 * 2) {}

    class Keys {
     public:
      __device__ Keys(const Distances& all, int block, int half) : all_(all), block_(block), half_(half) {}
      [[nodiscard]] __device__ __forceinline__ int least() const {
        int least = INT_MAX;
#pragma unroll
        for (int i = 0; i < kGroups * kGroupKeys; ++i) least = min(least, key(i / kGroupKeys, i % kGroupKeys));
        return least;
      }
      static constexpr int kGroups = kRows / 32, kGroupKeys = 8;
      [[nodiscard]] __device__ __forceinline__ int word(int group) const {
        return all_.tile_.first_row_ / 32 + group;
      }
      [[nodiscard]] __device__ __forceinline__ int shift() const {
        return all_.tile_.lane_ % 4 * 2;
      }
      [[nodiscard]] static __device__ __forceinline__ constexpr int offset(int i) {
        return i / 2 * 8 + i % 2;
      }
      [[nodiscard]] __device__ __forceinline__ int key(int group, int i) const {
        const int j = group * 4 + i / 2;
        return all_.row_lengths_[j * 8 + i % 2] - 2 * all_.tile_.products_[block_][j][2 * half_ + i % 2];
      }

     private:
      const Distances& all_;
      int block_;
      int half_;
    };

    template <class Visit>
    __device__ __forceinline__ void for_runs(Visit visit) const {
#pragma unroll
      for (int i = 0; i < kBlocksQ; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          visit(tile_.first_query_ + i * 16 + half * 8 + tile_.lane_ / 4, Keys(*this, i, half));
        }
      }
    }

   private:
    const RegressionBytesTile& tile_;
    const int* row_lengths_;
  };

 private:
  struct Words {
    unsigned queries[kBlocksQ][4];
    unsigned rows[kBlocksR / 2][4];  ///< of two blocks of 8 rows
  };

  __device__ __forceinline__ void load(Words& words, const unsigned char* stage, int step) const {
    // A step is two chunks, and exchanging chunks an exclusive or: that of a sum of both is that of each.
#pragma unroll
    for (int i = 0; i < kBlocksQ; ++i) {
      load_matrices(words.queries[i], stage + (queries_at_ ^ step * kStepBytes) + i * 16 * kShape.stage_bytes);
    }
#pragma unroll
    for (int j = 0; j < kBlocksR / 2; ++j) {
      load_matrices(words.rows[j], stage + (rows_at_ ^ step * kStepBytes) + j * 16 * kShape.stage_bytes);
    }
  }
  __device__ __forceinline__ void multiply(const Words& words) {
#pragma unroll
    for (int i = 0; i < kBlocksQ; ++i) {
#pragma unroll
      for (int j = 0; j < kBlocksR; ++j) {
        multiply_16x8(products_[i][j], words.queries[i], words.rows[j / 2][j % 2 * 2],
                      words.rows[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  int lane_;
  int first_query_;
  int first_row_;
  int queries_at_;  ///< what this lane reads of a stage begins there
  int rows_at_;
  int products_[kBlocksQ][kBlocksR][4];
};

/// Groups: those of one block of training rows follow each other.
template <RegressionByteShape kShape>
__device__ __forceinline__ void regress_bytes(const RegressionTileArguments<std::uint8_t>& regression) {
  using Shared = RegressionBytesShared<kShape>;
  using Tile = RegressionBytesTile<kShape>;
  static_assert(sizeof(Shared) + kept_bytes(kShape) == shared_bytes(kShape));
  static_assert(kShape.queries <= kShape.threads() && kLeastBlockRows<std::uint8_t> % kShape.rows == 0);
  static_assert(kRegressionPadding % kShape.rows == 0 && kRegressionPadding % kShape.queries == 0);
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes_of_block);

  let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t block = blockIdx.x / regression.query_tiles;
  const std::int64_t first_query = (blockIdx.x - block * regression.query_tiles) * kShape.queries;
  const std::int64_t block_row = block * regression.block_rows;
  const std::int64_t left = regression.training_rows - block_row;
  const std::int64_t rows = left < regression.block_rows ? left : regression.block_rows;
  const std::int64_t tiles = (rows + kShape.rows - 1) / kShape.rows;
  wait_for_kernel_before();

  RegressionBytesFetch<kShape> fetch(shared, regression.queries + first_query * regression.depth,
                                     regression.rows + block_row * regression.depth, regression.row_lengths + block_row,
                                     regression.depth);
#pragma unroll
  for (int slot = 0; slot < kShape.stages - 1; ++slot) {
    fetch.start(slot, tiles);
    close_group();
  }
  MeetingQuery<std::uint8_t, decltype(shared.met)> mine(regression, shared.met, block, first_query, thread,
                                                        reinterpret_cast<int*>(shared_bytes_of_block + sizeof(Shared)));
  Tile tile(thread / 32);
  int read = 0;
  int write = kShape.stages - 1;
#pragma unroll 1
  for (std::int64_t number = 0; number < tiles; ++number) {
    tile.clear();
    int last = 0;
#pragma unroll 1
    for (std::int64_t at = 0; at < regression.depth; at += kShape.stage_bytes) {
      wait_for_groups<kShape.stages - 2>();
      __syncthreads();  // the stage is there for all, and nobody reads any more what the next one replaces
      fetch.start(write, tiles);
      close_group();
      const std::int64_t steps = (regression.depth - at) / kStepBytes;
      tile.multiply(shared.stages[read], steps < kShape.stage_bytes / kStepBytes ? static_cast<int>(steps)
                                                                                 : kShape.stage_bytes / kStepBytes);
      last = read;
      read = read + 1 == kShape.stages ? 0 : read + 1;
      write = write + 1 == kShape.stages ? 0 : write + 1;
    }
    meet_tile(regression, shared.met, mine, typename Tile::Distances(tile, shared.row_lengths[last]),
              block_row + number * kShape.rows);
  }
  mine.write(regression);
}

}  // namespace tessera::cuda
