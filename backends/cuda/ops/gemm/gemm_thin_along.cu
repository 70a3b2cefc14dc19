// gemm, thin, where sums run along the large operand's stored rows: few rows of C and B transposed, or few columns and
// A as it is.
//
//    large operand, many x k                 small operand, few x k       a group  = 8 to 128 rows, all of few
//    +--------------------------------+      +------------------------+   a thread = chunks of 16 bytes of 4 rows (2),
//    | 0 1 2 .. lanes | 0 1 2 ..      | <-   | part in shared memory  |                every `lanes`-th of a row
//    | 0 1 2 .. lanes | 0 1 2 ..      |      +------------------------+
//    +--------------------------------+      Each chunk of the large operand is read once, from device memory, and
//      one step of a group ->                meets `few` chunks of the small one from shared memory, each of which
//                                            serves the thread's 4 rows.
//
// Every product has its place: a thread adds along k, the lanes of a row add in pairs, several warps of a row in order.
// All loads of a step are on their way before the first is used, 8 or 4 of 16 bytes a thread. 8 lanes read whole lines
// of 128 bytes and suit short k; 128 lanes are for rows so few that more threads a row are needed to ask for enough.
#include "ops/gemm/gemm_thin.cuh"

namespace tessera::cuda {

/// What a thread loads for a step.
template <GemmThinShape kShape, class T>
struct AlongChunks {
  ThinChunk<T> of[kShape.loads()][kShape.rows()];
};

template <bool kWhole, bool kAligned, GemmThinShape kShape, class T>
__device__ __forceinline__ void load_along(AlongChunks<kShape, T>& chunks, const T* const* rows, std::int64_t first,
                                           std::int64_t end) {
#pragma unroll
  for (int load = 0; load < kShape.loads(); ++load) {
    const int lane = static_cast<int>(threadIdx.x) % kShape.lanes;
    const std::int64_t p = first + (load * kShape.lanes + lane) * kThinChunk<T>;
#pragma unroll
    for (int row = 0; row < kShape.rows(); ++row) {
      chunks.of[load][row] = load_chunk<kWhole, kAligned>(rows[row] + p, end - p);
    }
  }
}

template <GemmThinShape kShape, class T>
__device__ __forceinline__ void add_along(T* sums, const AlongChunks<kShape, T>& chunks, const T* small) {
  constexpr int kRows = kShape.rows();
  const int lane = static_cast<int>(threadIdx.x) % kShape.lanes;
#pragma unroll
  for (int load = 0; load < kShape.loads(); ++load) {
#pragma unroll
    for (int one = 0; one < kShape.few; ++one) {
      const auto factors = *reinterpret_cast<const ThinChunk<T>*>(small + one * kShape.depth() +
                                                                  (load * kShape.lanes + lane) * kThinChunk<T>);
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
#pragma unroll
        for (int i = 0; i < kThinChunk<T>; ++i) {
          sums[one * kRows + row] += chunks.of[load][row].element[i] * factors.element[i];
        }
      }
    }
  }
}

template <int kFew, int kLanes, bool kAligned, class T>
__device__ __forceinline__ void gemm_thin_along(const GemmThinArguments<T>& arguments) {
  constexpr GemmThinShape kShape{true, kFew, kLanes, kThinChunk<T>};
  constexpr int kRows = kShape.rows();
  constexpr int kTile = kShape.tile();
  constexpr int kDepth = kShape.depth();
  using Chunks = AlongChunks<kShape, T>;
  constexpr int kParts = kLanes > 32 ? kLanes / 32 : 1;  // warps that share a row
  constexpr int kWarpLanes = kLanes < 32 ? kLanes : 32;
  __shared__ alignas(16) T small[2 * kShape.small_size()];
  __shared__ T tile_sums[kParts * kFew * kTile];

  for_each_tile<kShape>(
      arguments, [&](const GemmThinArguments<T>& gemm, std::int64_t begin, std::int64_t end, std::int64_t first) {
        const int thread = static_cast<int>(threadIdx.x);
        const int slot = thread / kLanes;
        const T* rows[kRows];
#pragma unroll
        for (int row = 0; row < kRows; ++row) {  // one that does not exist is read as the last, and not stored
          rows[row] = gemm.large + min(first + slot * kRows + row, gemm.many - 1) * gemm.large_step;
        }
        T sums[kFew * kRows] = {};
        add_steps<kShape, Chunks>(
            gemm, begin, end, small,
            [&](Chunks& chunks, std::int64_t step) {
              if (step + kDepth <= end) {
                load_along<true, kAligned>(chunks, rows, step, end);
              } else {
                load_along<false, kAligned>(chunks, rows, step, end);
              }
            },
            [&](const Chunks& chunks, const T* part) { add_along(sums, chunks, part); });

        int base = 0;
        add_over_lanes<kFew * kRows, kWarpLanes / 2, 1>(sums, base);
        const int part = kParts > 1 ? thread / 32 % kParts : 0;
        __syncthreads();  // the sums of the tile before have been stored
#pragma unroll
        for (int i = 0; i < left_of(kFew * kRows, kWarpLanes); ++i) {
          const int one = (base + i) / kRows;
          if (is_first_with_them<kFew * kRows, kWarpLanes / 2, 1>()) {
            tile_sums[(part * kFew + one) * kTile + slot * kRows + (base + i) % kRows] = sums[i];
          }
        }
        __syncthreads();
        store_tile<kParts, kFew, kTile>(tile_sums, gemm, gemm.c, first, 0);
      });
}

}  // namespace tessera::cuda

TESSERA_GEMM_THIN(along, 8)
TESSERA_GEMM_THIN(along, 32)
TESSERA_GEMM_THIN_UP_TO_4(along, 128)
