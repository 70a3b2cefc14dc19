// gemm, thin, where sums run down over the large operand's stored rows: few rows of C and B as it is, or few columns
// and A transposed.
//
//      small operand        large operand, k x many            a group  = a strip of 32 to 128 columns
//                          +-------+-------+-------+           a thread = 16 bytes of columns, every 8th or 32nd step
//   few +--------+       k | 0 1 ..|       |       |                      of k, `few` sums for each column
//       | in     |         | 0 1 ..| strip |       |
//       | shared |         | 0 1 ..|       |       |           Each chunk of the large operand is read once, from
//       +--------+         +-------+-------+-------+           device memory; the factors of its step come from shared
//           k ->             lanes                             memory, one broadcast for all lanes of the row.
//
// Every product has its place: a thread adds down its steps, the lanes of a warp that have the same columns add in
// pairs, the warps in order. All loads of a step are on their way before the first is used, 8 or 4 of 16 bytes.
#include "ops/gemm/gemm_thin.cuh"

namespace tessera::cuda {

/// What a thread loads for a step.
template <GemmThinShape kShape, class T>
struct DownChunks {
  ThinChunk<T> of[kShape.loads()];
};

template <bool kWhole, bool kAligned, GemmThinShape kShape, class T>
__device__ __forceinline__ void load_down(DownChunks<kShape, T>& chunks, const GemmThinArguments<T>& gemm,
                                          std::int64_t column, std::int64_t first, std::int64_t end) {
  const int slot = static_cast<int>(threadIdx.x) / kShape.lanes;
#pragma unroll
  for (int load = 0; load < kShape.loads(); ++load) {
    const std::int64_t p = first + load * kShape.slots() + slot;
    const std::int64_t inside = kWhole || p < end ? gemm.many - column : 0;
    chunks.of[load] = load_chunk<kWhole, kAligned>(gemm.large + p * gemm.large_step + column, inside);
  }
}

template <GemmThinShape kShape, class T>
__device__ __forceinline__ void add_down(T* sums, const DownChunks<kShape, T>& chunks, const T* small) {
  const int slot = static_cast<int>(threadIdx.x) / kShape.lanes;
#pragma unroll
  for (int load = 0; load < kShape.loads(); ++load) {
#pragma unroll
    for (int one = 0; one < kShape.few; ++one) {
      const T factor = small[(load * kShape.slots() + slot) * kShape.few + one];
#pragma unroll
      for (int i = 0; i < kThinChunk<T>; ++i) {
        sums[one * kThinChunk<T> + i] += chunks.of[load].element[i] * factor;
      }
    }
  }
}

template <int kFew, int kLanes, bool kAligned, class T>
__device__ __forceinline__ void gemm_thin_down(const GemmThinArguments<T>& arguments) {
  constexpr GemmThinShape kShape{false, kFew, kLanes, kThinChunk<T>};
  constexpr int kTile = kShape.tile();
  constexpr int kDepth = kShape.depth();
  using Chunks = DownChunks<kShape, T>;
  constexpr int kWarps = kThinThreads / 32;
  constexpr int kSums = kFew * kThinChunk<T>;
  constexpr int kRound = kFew < 4 ? kFew : 4;  // sums of a column that are brought together at once
  __shared__ alignas(16) T small[2 * kShape.small_size()];
  __shared__ T round_sums[kWarps * kRound * kTile];

  for_each_tile<kShape>(
      arguments, [&](const GemmThinArguments<T>& gemm, std::int64_t begin, std::int64_t end, std::int64_t first) {
        const int thread = static_cast<int>(threadIdx.x);
        const int place = thread % kLanes * kThinChunk<T>;
        const std::int64_t column = first + place;
        T sums[kSums] = {};
        add_steps<kShape, Chunks>(
            gemm, begin, end, small,
            [&](Chunks& chunks, std::int64_t step) {
              if (step + kDepth <= end && first + kTile <= gemm.many) {
                load_down<true, kAligned>(chunks, gemm, column, step, end);
              } else {
                load_down<false, kAligned>(chunks, gemm, column, step, end);
              }
            },
            [&](const Chunks& chunks, const T* part) { add_down(sums, chunks, part); });

        int base = 0;
        add_over_lanes<kSums, 16, kLanes>(sums, base);
        constexpr int kLeft = left_of(kSums, 32 / kLanes);
#pragma unroll
        for (int round = 0; round < kFew; round += kRound) {
          __syncthreads();  // the sums of the round before have been stored
#pragma unroll
          for (int i = 0; i < kLeft; ++i) {
            const int one = (base + i) / kThinChunk<T> - round;
            if (one >= 0 && one < kRound && is_first_with_them<kSums, 16, kLanes>()) {
              round_sums[(thread / 32 * kRound + one) * kTile + place + (base + i) % kThinChunk<T>] = sums[i];
            }
          }
          __syncthreads();
          store_tile<kWarps, kRound, kTile>(round_sums, gemm, gemm.c, first, round);
        }
      });
}

}  // namespace tessera::cuda

TESSERA_GEMM_THIN(down, 8)
TESSERA_GEMM_THIN(down, 32)
