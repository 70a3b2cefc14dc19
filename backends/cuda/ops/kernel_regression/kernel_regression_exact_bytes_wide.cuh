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
//   other warps: one warp a ring fetches stages,
//   one warp a ring what else rows have                Both blocks need the same rows: each fetches a half of a stage
//                                                      for both, so that every training row is read from L2 once for
//                                                      256 queries.
//
// Which query a sum belongs to, and how rows are met: kernel_regression_warp_meeting.cuh. Packed rows lie as
// kernel_regression_pack_panels.cu says.
#pragma once

#include <type_traits>

#include "ops/kernel_regression/kernel_regression_exact_bytes_wide_fetch.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// Sums become words; those of the lane's lengths lie in shared memory.
__device__ __forceinline__ void make_words_of_bytes(int (&sum)[64], const int* words) {
  // Words are in an int's range, what is taken off need not be.
  const auto word = [](int of_length, int product) {
    return static_cast<int>(static_cast<unsigned>(of_length) - 2U * kWarpKeys * static_cast<unsigned>(product));
  };
#pragma unroll
  for (int i = 0; i < 64; i += 8) {
    const int4 four = *reinterpret_cast<const int4*>(words + i / 2);
    sum[i] = word(four.x, sum[i]);
    sum[i + 1] = word(four.y, sum[i + 1]);
    sum[i + 2] = word(four.x, sum[i + 2]);
    sum[i + 3] = word(four.y, sum[i + 3]);
    sum[i + 4] = word(four.z, sum[i + 4]);
    sum[i + 5] = word(four.w, sum[i + 5]);
    sum[i + 6] = word(four.z, sum[i + 6]);
    sum[i + 7] = word(four.w, sum[i + 7]);
  }
}

/// A warp group multiplies its half of the block's queries by the training rows of its ring's pieces, and meets them.
template <bool kIsEuclidean>
__device__ __forceinline__ void multiply_wide(const RegressionTileArguments<std::uint8_t>& regression,
                                              RegressionWideShared& shared, const unsigned char* queries) {
  const unsigned rank = block_of_cluster();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // The same in all lanes, as the compiler must know: so it keeps descriptors in uniform registers.
  const int group = __shfl_sync(0xffffffffU, warp / 4, 0);
  const int half = group % kWideHalves;
  const auto depth = static_cast<int>(regression.depth);
  RegressionWideRing& ring = shared.rings[warp / kWideRingWarps];
  const std::uint64_t a = operand_in_chunks(queries + half * kWideHalf * kWideChunk, kWideQueries * kWideChunk);
  const std::uint64_t b = operand_in_chunks(shared.rings[group / kWideHalves].stages, kWideRows * kWideChunk);
  // In descriptors an address is a sixteenth.
  constexpr unsigned kStepOfA = 2 * kWideQueries, kStepOfB = 2 * kWideRows;
  constexpr unsigned kStageOfB = kWideRows * kWideStageBytes / 16;
  RingPlace<kWideStages> stage;
  unsigned met = 0;  // tiles
  unsigned parity = 0;
  bool has_queries = false;
  int sum[64];
  WarpQuery<std::uint8_t> upper, lower;  // g and g + 8
  std::int64_t first_query = 0;          // g
  const unsigned empty = address_at_block(&ring.of_stages[0].empty, static_cast<unsigned>(lane) % kWideBlocks);
  const auto release = [&](int place) {
    if (lane < kWideBlocks) arrive_at(empty + static_cast<unsigned>(place) * sizeof(RegressionWideStage));
  };
  const WarpMeeting<std::uint8_t, kIsEuclidean, false> meeting(regression, shared.lists[warp]);
  RegressionWideWork(regression, group / kWideHalves)
      .for_pieces(
          [&](int pair) {
            if (has_queries && lane == 0) arrive(shared.queries_empty);
            has_queries = true;
            first_query = std::int64_t{pair * kWideBlocks + static_cast<int>(rank)} * kWideQueries + half * kWideHalf +
                          warp % 4 * 16 + lane / 4;
            wait(shared.queries_full, parity);
            parity ^= 1;
          },
          [&](int block, int number) {
            const int tiles = __shfl_sync(0xffffffffU, number, 0);  // or else it is computed again and again
            meeting.begin(regression, upper, block, first_query);
            meeting.begin(regression, lower, block, first_query + 8);
            for (int tile = 0; tile < tiles; ++tile) {
              unsigned of_a = 0;
              int before = 0;
              // The sums' registers are free until the first products: until then they hold other things.
              const auto multiply_stage = [&](auto is_first, auto is_whole) {
                wait(ring.of_stages[stage.place].full, stage.parity);
                const unsigned of_b = static_cast<unsigned>(stage.place) * kStageOfB;
                begin_products();
                if constexpr (is_first.value) {
                  multiply_first_64x128(sum, operand_beside(a, of_a), operand_beside(b, of_b));
                } else {
                  multiply_64x128(sum, operand_beside(a, of_a), operand_beside(b, of_b));
                }
                if constexpr (is_whole.value) {
                  multiply_64x128(sum, operand_beside(a, of_a + kStepOfA), operand_beside(b, of_b + kStepOfB));
                }
                close_products();
                of_a += 2 * kStepOfA;
                if constexpr (!is_first.value) {
                  wait_for_products<1>();
                  release(before);
                }
                before = stage.place;
                stage.advance();
              };
              constexpr std::true_type kYes;
              constexpr std::false_type kNo;
              if (depth < kWideStageBytes) {
                multiply_stage(kYes, kNo);
              } else {
                multiply_stage(kYes, kYes);
#pragma unroll 1
                for (int at = 2 * kWideStageBytes; at <= depth; at += kWideStageBytes) multiply_stage(kNo, kYes);
                if (depth % kWideStageBytes != 0) multiply_stage(kNo, kNo);
              }
              wait_for_products<0>();
              hold(sum);
              release(before);
              const unsigned slot = met % kWideSlots;
              wait(ring.rows_full[slot], met / kWideSlots % 2);
              make_words_of_bytes(sum, ring.words[slot][lane % 4]);
              meeting.meet(regression, upper, lower, sum, ring.targets[slot], block, tile, first_query);
              if (lane == 0) arrive(ring.rows_empty[slot]);
              ++met;
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
      for (RegressionWideStage& stage : ring.of_stages) {
        initialise(stage.full, 1);
        initialise(stage.empty, kWideBlocks * kWideRingWarps);
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
    const int number = __shfl_sync(0xffffffffU, warp % kWideRings, 0);
    if (warp - kWideMeetingWarps >= kWideRings) {
      fetch_wide_rows(regression, shared.rings[number], number);
    } else {
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
