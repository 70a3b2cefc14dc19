// kernel_regression, exact_bytes on Hopper: what a block of the tile by warp groups has in shared memory, the pieces
// that its rings take, and who fetches what (kernel_regression_exact_bytes_wide.cuh has the picture).
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_warpgroup_products.cuh"
#include "ops/kernel_regression/kernel_regression_warp_meeting.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// Between the words of two lanes of a quad: so the four lanes load from different banks.
inline constexpr int kWordsApart = 4;

/// What the warp groups of a ring have in shared memory.
struct RegressionWideRing {
  alignas(128) unsigned char stages[kWideStages][kWideRows * kWideStageBytes];
  alignas(16) int words[kWideSlots][4][kWarpKeys + kWordsApart];  ///< of lengths, those of a quad's lane together
  alignas(16) double targets[kWideSlots][kWideRows];              ///< as WarpMeeting wants them
  SharedBarrier full[kWideStages], empty[kWideStages];
  SharedBarrier rows_full[kWideSlots], rows_empty[kWideSlots];
};
/// What a block has; its queries lie behind it.
struct RegressionWideShared {
  RegressionWideRing rings[kWideRings];
  RegressionWarpLists<std::uint8_t> lists[kWideMeetingWarps];
  SharedBarrier queries_full, queries_empty;
};
static_assert(sizeof(RegressionWideShared) <= kWideFixedBytes && kWideRows == kWarpRows);

/// A cluster's pieces of work are blocks of training rows for pairs of queries' tiles. As long as there is a pair for
/// each cluster, every cluster takes one with all blocks; of the last pairs the first clusters take the first blocks of
/// one each, and the other clusters share what is left. So all clusters pass over the training rows side by side, a few
/// blocks at a time, which L2 holds. The rings of a cluster's blocks with the same number take every second piece.
class RegressionWideWork {
 public:
  __device__ RegressionWideWork(const RegressionTileArguments<std::uint8_t>& regression, int ring)
      : regression_(regression), ring_(ring) {
    const auto clusters = static_cast<int>(gridDim.x);
    const auto pairs = static_cast<int>(regression.query_tiles);
    const int cluster = static_cast<int>(blockIdx.x);
    const int blocks = static_cast<int>((regression.training_rows + regression.block_rows - 1) / regression.block_rows);
    const int last_pairs = pairs % clusters;
    const int others = clusters - last_pairs;
    int taken = static_cast<int>(std::int64_t{last_pairs} * blocks / clusters);
    if (std::int64_t{last_pairs} * (blocks - taken) > std::int64_t{others} * (taken + 1)) ++taken;
    const std::int64_t left = std::int64_t{last_pairs} * (blocks - taken);
    blocks_ = blocks;
    whole_ = pairs / clusters * blocks;
    last_pair_ = pairs - last_pairs + cluster;
    first_ = 0;
    blocks_left_ = blocks;
    int count = taken;
    if (cluster >= last_pairs) {
      last_pair_ = pairs - last_pairs;
      first_ = static_cast<int>(left * (cluster - last_pairs) / others);
      count = static_cast<int>(left * (cluster - last_pairs + 1) / others) - first_;
      blocks_left_ = blocks - taken;
    }
    end_ = whole_ + count;
  }
  /// Calls begin(pair) for each pair of tiles, and then visit(block, tiles of rows) for each of the ring's pieces.
  template <class Begin, class Visit>
  __device__ __forceinline__ void for_pieces(Begin begin, Visit visit) const {
#pragma unroll 1
    for (int piece = 0; piece < end_;) {
      int pair, block, behind;
      if (piece < whole_) {
        pair = piece / blocks_ * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        block = 0;
        behind = piece + blocks_;
      } else {
        const int number = first_ + piece - whole_;
        pair = last_pair_ + number / blocks_left_;
        block = number % blocks_left_;
        behind = min(piece + blocks_left_ - block, end_);
        block += blocks_ - blocks_left_;
      }
      begin(pair);
#pragma unroll 1
      for (int own = piece + (piece + ring_) % kWideRings; own < behind; own += kWideRings) {
        const std::int64_t number = block + own - piece;
        const std::int64_t left = regression_.training_rows - number * regression_.block_rows;
        const auto rows = static_cast<int>(left < regression_.block_rows ? left : regression_.block_rows);
        visit(static_cast<int>(number), (rows + kWideRows - 1) / kWideRows);
      }
      piece = behind;
    }
  }

 private:
  const RegressionTileArguments<std::uint8_t>& regression_;
  int ring_;
  int blocks_;
  int whole_;        ///< pieces of pairs with all blocks
  int end_;          ///< and of all
  int last_pair_;    ///< behind which the others are counted,
  int first_;        ///< from this piece on
  int blocks_left_;  ///< of such a pair
};

/// One thread fetches a ring's training rows, of the half that is this block's of what the cluster needs; that of the
/// first ring the queries too.
__device__ __forceinline__ void fetch_wide(const RegressionTileArguments<std::uint8_t>& regression,
                                           RegressionWideShared& shared, unsigned char* queries, int number) {
  const auto depth = static_cast<unsigned>(regression.depth);
  const unsigned rank = block_of_cluster();
  RegressionWideRing& ring = shared.rings[number];
  RingPlace<kWideStages> stage;
  unsigned parity = 1;
  RegressionWideWork(regression, number)
      .for_pieces(
          [&](int pair) {
            if (number != 0) return;
            wait(shared.queries_empty, parity);
            parity ^= 1;
            arm(shared.queries_full, depth * kWideQueries);
            copy_bulk(queries,
                      regression.queries +
                          std::int64_t{pair * kWideBlocks + static_cast<int>(rank)} * kWideQueries * regression.depth,
                      depth * kWideQueries, shared.queries_full);
          },
          [&](int block, int tiles) {
            const std::uint8_t* rows = regression.rows + block * regression.block_rows * regression.depth;
            for (int tile = 0; tile < tiles; ++tile, rows += kWideRows * regression.depth) {
              for (unsigned at = 0; at < depth; at += kWideStageBytes) {
                const unsigned bytes = (depth - at < kWideStageBytes ? depth - at : kWideStageBytes) * kWideRows;
                const unsigned half = bytes / kWideBlocks;
                wait(ring.empty[stage.place], stage.parity ^ 1);
                arm(ring.full[stage.place], bytes);
                copy_bulk_to_blocks(ring.stages[stage.place] + rank * half, rows + at * kWideRows + rank * half, half,
                                    ring.full[stage.place], (1U << kWideBlocks) - 1);
                stage.advance();
              }
            }
          });
}

/// One warp brings the lengths and targets of a ring's rows.
__device__ __forceinline__ void fetch_wide_rows(const RegressionTileArguments<std::uint8_t>& regression,
                                                RegressionWideRing& ring, int number) {
  RingPlace<kWideSlots> slot;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  RegressionWideWork(regression, number)
      .for_pieces([](int) {},
                  [&](int block, int tiles) {
                    for (int tile = 0; tile < tiles; ++tile) {
                      const std::int64_t first = block * regression.block_rows + tile * kWideRows;
                      int lengths[kWideRows / 32];
                      float targets[kWideRows / 32];
#pragma unroll
                      for (int i = 0; i < kWideRows / 32; ++i) {
                        const std::int64_t row = first + i * 32 + lane;
                        lengths[i] = regression.row_lengths[row];
                        targets[i] = row < regression.training_rows ? regression.targets[row] : 0;
                      }
                      wait(ring.rows_empty[slot.place], slot.parity ^ 1);
#pragma unroll
                      for (int i = 0; i < kWideRows / 32; ++i) {
                        const int place = place_of_target(i * 32 + lane);
                        const int number = place % kWarpKeys;
                        ring.words[slot.place][place / kWarpKeys][number] = word_of_length(lengths[i], number);
                        ring.targets[slot.place][place] = static_cast<double>(targets[i]);
                      }
                      arrive(ring.rows_full[slot.place]);
                      slot.advance();
                    }
                  });
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
