// kernel_regression, exact_bytes on Hopper: what a block of the tile by warp groups has in shared memory, the pieces
// that its rings take, and who fetches what (kernel_regression_exact_bytes_wide.cuh has the picture).
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_warpgroup_products.cuh"
#include "ops/kernel_regression/kernel_regression_warp_meeting.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"
#include "ops/kernel_regression/kernel_regression_wide_work.h"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// Between the words of two lanes of a quad: so the four lanes load from different banks.
inline constexpr int kWordsApart = 4;

/// A stage's barriers.
struct RegressionWideStage {
  SharedBarrier full, empty;
};
/// What the warp groups of a ring have in shared memory.
struct RegressionWideRing {
  alignas(128) unsigned char stages[kWideStages][kWideRows * kWideStageBytes];
  alignas(16) int words[kWideSlots][4][kWarpKeys + kWordsApart];  ///< of lengths, those of a quad's lane together
  alignas(16) double targets[kWideSlots][kWideRows];              ///< as WarpMeeting wants them
  RegressionWideStage of_stages[kWideStages];
  SharedBarrier rows_full[kWideSlots], rows_empty[kWideSlots];
};
/// What a block has; its queries lie behind it.
struct RegressionWideShared {
  RegressionWideRing rings[kWideRings];
  RegressionWarpLists<std::uint8_t> lists[kWideMeetingWarps];
  SharedBarrier queries_full, queries_empty;
};
static_assert(sizeof(RegressionWideShared) <= kWideFixedBytes && kWideRows == kWarpRows);

/// The pieces of a cluster's share, of which the rings of its blocks with the same number take every second one.
class RegressionWideWork {
 public:
  __device__ RegressionWideWork(const RegressionTileArguments<std::uint8_t>& regression, int ring)
      : regression_(regression),
        share_(static_cast<int>(regression.query_tiles),
               static_cast<int>((regression.training_rows + regression.block_rows - 1) / regression.block_rows),
               static_cast<int>(gridDim.x), static_cast<int>(blockIdx.x)),
        ring_(ring) {}
  /// Calls begin(pair) for each pair of tiles, and then visit(block, tiles of rows) for each of the ring's pieces.
  template <class Begin, class Visit>
  __device__ __forceinline__ void for_pieces(Begin begin, Visit visit) const {
#pragma unroll 1
    for (int piece = 0; piece < share_.end();) {
      const RegressionWideRun run = share_.run_at(piece);
      begin(run.pair);
#pragma unroll 1
      for (int own = piece + (piece + ring_) % kWideRings; own < run.behind; own += kWideRings) {
        const int block = run.block + own - piece;
        const std::int64_t left = regression_.training_rows - block * regression_.block_rows;
        const auto rows = static_cast<int>(left < regression_.block_rows ? left : regression_.block_rows);
        visit(block, (rows + kWideRows - 1) / kWideRows);
      }
      piece = run.behind;
    }
  }

 private:
  const RegressionTileArguments<std::uint8_t>& regression_;
  RegressionWideShare share_;
  int ring_;
};

/// Starts one stage of a ring's training rows after the other, of the half that is this block's of what the cluster
/// needs. A stage's instructions are few: they are one warp's, and all others wait for them.
class RegressionWideStages {
 public:
  __device__ explicit RegressionWideStages(RegressionWideRing& ring)
      : first_(ring.of_stages),
        stage_(ring.of_stages),
        rank_(block_of_cluster()),
        half_(ring.stages[0] + rank_ * (kBytes / kWideBlocks)) {}
  /// A tile lies behind the one before, as do its stages.
  __device__ __forceinline__ void start_tiles(const std::uint8_t* rows, int tiles, int depth) {
    const int whole = depth / kWideStageBytes;
    const auto rest = static_cast<unsigned>(depth % kWideStageBytes * kWideRows);
    // A part of a stage has its halves nearer to each other.
    const unsigned nearer = rank_ * ((kBytes - rest) / kWideBlocks);
    rows += rank_ * (kBytes / kWideBlocks);
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, rows += rest) {
#pragma unroll 1
      for (int stage = 0; stage < whole; ++stage, rows += kBytes) start(half_, rows, kBytes);
      if (rest != 0) start(half_ - nearer, rows - nearer, rest);
    }
  }

 private:
  static constexpr unsigned kBytes = kWideStageBytes * kWideRows;

  __device__ __forceinline__ void start(unsigned char* half, const std::uint8_t* source, unsigned bytes) {
    wait(stage_->empty, parity_);
    if (elects()) {
      arm(stage_->full, bytes);
      copy_bulk_to_blocks(half, source, bytes / kWideBlocks, stage_->full, (1U << kWideBlocks) - 1);
    }
    ++stage_;
    half_ += kBytes;
    if (stage_ != first_ + kWideStages) return;
    stage_ = first_;
    half_ -= kWideStages * kBytes;
    parity_ ^= 1;
  }

  RegressionWideStage* first_;
  RegressionWideStage* stage_;
  unsigned rank_;
  unsigned parity_ = 1;
  unsigned char* half_;  ///< of the stage in shared memory
};

/// One warp fetches a ring's training rows; that of the first ring the queries too.
__device__ __forceinline__ void fetch_wide(const RegressionTileArguments<std::uint8_t>& regression,
                                           RegressionWideShared& shared, unsigned char* queries, int number) {
  const auto depth = static_cast<unsigned>(regression.depth);
  unsigned parity = 1;
  RegressionWideStages stages(shared.rings[number]);
  RegressionWideWork(regression, number)
      .for_pieces(
          [&](int pair) {
            if (number != 0) return;
            wait(shared.queries_empty, parity);
            parity ^= 1;
            if (!elects()) return;
            arm(shared.queries_full, depth * kWideQueries);
            copy_bulk(queries,
                      regression.queries + std::int64_t{pair * kWideBlocks + static_cast<int>(block_of_cluster())} *
                                               kWideQueries * regression.depth,
                      depth * kWideQueries, shared.queries_full);
          },
          [&](int block, int tiles) {
            stages.start_tiles(regression.rows + block * regression.block_rows * regression.depth, tiles,
                               static_cast<int>(depth));
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
