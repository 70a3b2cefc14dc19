// kernel_regression, exact_bytes on Hopper: products by warp groups, whose operands come in bulk.
//
//   a cluster, two blocks of 128 queries each          A block has its queries in shared memory with all columns, and
//                                                      two rings of stages, through each of which go blocks of 2048
//   queries, resident     rows of ring 0  -> sums      training rows of its own, 128 rows a tile. Two warp groups a
//   of block 0, 2 x 64    rows of ring 1  -> sums      ring multiply them by 64 queries each: a query's state then
//                              | the same              belongs to four lanes from beginning to end. Meeting rows takes
//   of block 1, 2 x 64    rows of ring 0  -> sums      a warp longer than multiplying them: while the groups of a ring
//                         rows of ring 1  -> sums      meet what they have multiplied, the tensor cores serve the
//                                                      other ring's.
//   other warps: one thread a ring fetches stages,
//   one warp a ring what else rows have                Both blocks need the same rows: each fetches a half of a stage
//                                                      for both, so that every training row is read from L2 once for
//                                                      256 queries.
//
// Which query a sum belongs to, and how rows are met: kernel_regression_warp_meeting.cuh. Packed rows lie as
// kernel_regression_pack_panels.cu says.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_warpgroup_products.cuh"
#include "ops/kernel_regression/kernel_regression_warp_meeting.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What the warp groups of a ring have in shared memory.
struct RegressionWideRing {
  alignas(128) unsigned char stages[kWideStages][kWideRows * kWideStageBytes];
  alignas(16) int lengths[kWideSlots][kWideRows];
  alignas(16) double targets[kWideSlots][kWideRows];  ///< as WarpMeeting wants them
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

/// A cluster's pieces of work are blocks of training rows for a pair of queries' tiles, in their order. Its blocks'
/// rings of the same number take every second piece of a pair.
class RegressionWideWork {
 public:
  __device__ RegressionWideWork(const RegressionTileArguments<std::uint8_t>& regression, int ring)
      : regression_(regression), ring_(ring) {
    const std::int64_t pieces = std::int64_t{blocks()} * regression.query_tiles;
    first_ = static_cast<int>(pieces * blockIdx.x / gridDim.x);
    end_ = static_cast<int>(pieces * (blockIdx.x + 1) / gridDim.x);
  }
  /// Calls begin(pair) for each pair of tiles, and then visit(block, tiles of rows) for each of the ring's pieces.
  template <class Begin, class Visit>
  __device__ __forceinline__ void for_pieces(Begin begin, Visit visit) const {
#pragma unroll 1
    for (int piece = first_; piece < end_;) {
      const int pair = piece / blocks();
      const int behind = min((pair + 1) * blocks(), end_);
      begin(pair);
#pragma unroll 1
      for (int own = piece + ring_; own < behind; own += kWideRings) {
        const int block = own - pair * blocks();
        const std::int64_t left = regression_.training_rows - block * regression_.block_rows;
        const auto rows = static_cast<int>(left < regression_.block_rows ? left : regression_.block_rows);
        visit(block, (rows + kWideRows - 1) / kWideRows);
      }
      piece = behind;
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ int blocks() const {
    return static_cast<int>((regression_.training_rows + regression_.block_rows - 1) / regression_.block_rows);
  }

  const RegressionTileArguments<std::uint8_t>& regression_;
  int ring_;
  int first_, end_;
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
                        ring.lengths[slot.place][i * 32 + lane] = min(lengths[i], kWarpNoLength);
                        ring.targets[slot.place][place_of_target(i * 32 + lane)] = static_cast<double>(targets[i]);
                      }
                      arrive(ring.rows_full[slot.place]);
                      slot.advance();
                    }
                  });
}

/// Sums become keys; the lengths of the tile's rows lie in shared memory.
__device__ __forceinline__ void make_keys_of_bytes(int (&sum)[64], const int* lengths) {
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < 64; i += 4) {
    const int2 two = *reinterpret_cast<const int2*>(lengths + i * 2 + column);
    sum[i] = two.x - 2 * sum[i];
    sum[i + 1] = two.y - 2 * sum[i + 1];
    sum[i + 2] = two.x - 2 * sum[i + 2];
    sum[i + 3] = two.y - 2 * sum[i + 3];
  }
}

/// A warp group multiplies its half of the block's queries by the training rows of its ring's pieces, and meets them.
template <bool kIsEuclidean>
__device__ __forceinline__ void multiply_wide(const RegressionTileArguments<std::uint8_t>& regression,
                                              RegressionWideShared& shared, const unsigned char* queries) {
  const unsigned rank = block_of_cluster();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int half = warp / 4 % kWideHalves;
  const auto depth = static_cast<int>(regression.depth);
  RegressionWideRing& ring = shared.rings[warp / kWideRingWarps];
  const std::uint64_t a = operand_in_chunks(queries + half * kWideHalf * kWideChunk, kWideQueries * kWideChunk);
  const std::uint64_t b = operand_in_chunks(ring.stages, kWideRows * kWideChunk);
  // In descriptors an address is a sixteenth.
  constexpr std::uint64_t kStepOfA = 2 * kWideQueries, kStepOfB = 2 * kWideRows;
  constexpr std::uint64_t kStageOfB = kWideRows * kWideStageBytes / 16;
  RingPlace<kWideStages> stage;
  RingPlace<kWideSlots> slot;
  unsigned parity = 0;
  bool has_queries = false;
  int sum[64];
  WarpQuery<std::uint8_t> upper, lower;  // g and g + 8
  std::int64_t first_query = 0;          // g
  const auto release = [&](int place) {
    if (lane < kWideBlocks) arrive_at_block(ring.empty[place], static_cast<unsigned>(lane));
  };
  const WarpMeeting<std::uint8_t, kIsEuclidean, false> meeting(regression, shared.lists[warp]);
  RegressionWideWork(regression, warp / kWideRingWarps)
      .for_pieces(
          [&](int pair) {
            if (has_queries && lane == 0) arrive(shared.queries_empty);
            has_queries = true;
            first_query = std::int64_t{pair * kWideBlocks + static_cast<int>(rank)} * kWideQueries + half * kWideHalf +
                          warp % 4 * 16 + lane / 4;
            wait(shared.queries_full, parity);
            parity ^= 1;
          },
          [&](int block, int tiles) {
            meeting.begin(regression, upper, block, first_query);
            meeting.begin(regression, lower, block, first_query + 8);
            for (int tile = 0; tile < tiles; ++tile) {
              int before = -1;
              std::uint64_t a_now = a;
              const auto multiply_stage = [&](bool adds, bool is_whole) {
                wait(ring.full[stage.place], stage.parity);
                const std::uint64_t b_now = b + static_cast<std::uint64_t>(stage.place) * kStageOfB;
                begin_products();
                multiply_64x128(sum, a_now, b_now, adds);
                if (is_whole) multiply_64x128(sum, a_now + kStepOfA, b_now + kStepOfB, true);
                close_products();
                a_now += 2 * kStepOfA;
                wait_for_products<1>();
                if (before >= 0) release(before);
                before = stage.place;
                stage.advance();
              };
#pragma unroll 1
              for (int at = 0; at + kWideStageBytes <= depth; at += kWideStageBytes) multiply_stage(at != 0, true);
              if (depth % kWideStageBytes != 0) multiply_stage(depth > kWideStageBytes, false);
              wait_for_products<0>();
              hold(sum);
              release(before);
              wait(ring.rows_full[slot.place], slot.parity);
              make_keys_of_bytes(sum, ring.lengths[slot.place]);
              meeting.meet(regression, upper, lower, sum, ring.targets[slot.place], block, tile, first_query);
              if (lane == 0) arrive(ring.rows_empty[slot.place]);
              slot.advance();
            }
            meeting.end(regression, upper, block, first_query, 0);
            meeting.end(regression, lower, block, first_query + 8, 1);
          });
}

#endif  // TESSERA_CUDA_IS_HOPPER

template <bool kIsEuclidean>
__device__ __forceinline__ void regress_bytes_wide(const RegressionTileArguments<std::uint8_t>& regression) {
#if defined(TESSERA_CUDA_IS_HOPPER)
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  auto& shared = *reinterpret_cast<RegressionWideShared*>(shared_bytes_of_block);
  unsigned char* const queries = shared_bytes_of_block + kWideFixedBytes;
  let_next_kernel_start();
  if (threadIdx.x == 0) {
    for (RegressionWideRing& ring : shared.rings) {
      for (int i = 0; i < kWideStages; ++i) {
        initialise(ring.full[i], 1);
        initialise(ring.empty[i], kWideBlocks * kWideRingWarps);
      }
      for (int i = 0; i < kWideSlots; ++i) {
        initialise(ring.rows_full[i], 32);
        initialise(ring.rows_empty[i], kWideRingWarps);
      }
    }
    initialise(shared.queries_full, 1);
    initialise(shared.queries_empty, kWideMeetingWarps);
    publish_barriers();
  }
  synchronise_cluster();
  wait_for_kernel_before();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < kWideMeetingWarps) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kWideMeetingRegisters));
    multiply_wide<kIsEuclidean>(regression, shared, queries);
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kWideOtherRegisters));
    const int number = warp % kWideRings;
    if (warp - kWideMeetingWarps >= kWideRings) {
      fetch_wide_rows(regression, shared.rings[number], number);
    } else if (threadIdx.x % 32 == 0) {
      fetch_wide(regression, shared, queries, number);
    }
  }
  __syncwarp();
  synchronise_cluster();  // the other block may still write here
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
