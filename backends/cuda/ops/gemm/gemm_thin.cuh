// What both kernels of gemm's thin variant share: how the small operand gets to shared memory, how the large one is
// loaded, and how a group's sums become C.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/gemm/gemm_thin_arguments.h"

namespace tessera::cuda {

template <class T>
inline constexpr int kThinChunk = 16 / static_cast<int>(sizeof(T));

/// What one thread loads at once.
template <class T>
struct alignas(16) ThinChunk {
  T element[kThinChunk<T>];
};

/// The chunk from `place` on, of which `inside` elements lie inside; 0 for the others. kWhole: all do. kAligned: places
/// are multiples of 16 bytes.
template <bool kWhole, bool kAligned, class T>
__device__ __forceinline__ ThinChunk<T> load_chunk(const T* place, std::int64_t inside) {
  if constexpr (kWhole && kAligned) {
    return *reinterpret_cast<const ThinChunk<T>*>(place);
  } else {
    ThinChunk<T> chunk;
#pragma unroll
    for (int i = 0; i < kThinChunk<T>; ++i) chunk.element[i] = kWhole || i < inside ? place[i] : T(0);
    return chunk;
  }
}

/// Copies steps [first, first + depth) of the small operand, with 0 from `end` on and for sums that do not exist: where
/// a zero stands for a missing element, the large operand has one as well. Where sums run along, one sum stands after
/// the other, else one step after the other. Threads that follow each other read elements that do.
template <GemmThinShape kShape, class T>
__device__ __forceinline__ void fetch_small(T* small, const GemmThinArguments<T>& gemm, std::int64_t first,
                                            std::int64_t end) {
  constexpr int kDepth = kShape.depth();
  const auto fetch = [&](int one, int step) {
    const std::int64_t p = first + step;
    T value = 0;
    if (one < gemm.few && p < end) value = gemm.small[one * gemm.small_few_step + p * gemm.small_k_step];
    small[kShape.along ? one * kDepth + step : step * kShape.few + one] = value;
  };
  const int thread = static_cast<int>(threadIdx.x);
  if (gemm.small_k_step == 1) {
#pragma unroll 8
    for (int i = thread; i < kShape.few * kDepth; i += kThinThreads) fetch(i / kDepth, i % kDepth);
  } else {
#pragma unroll 8
    for (int i = thread; i < kShape.few * kDepth; i += kThinThreads) fetch(i % kShape.few, i / kShape.few);
  }
}

/// Adds up kCount numbers over the lanes that differ in the bits from kFirst down to kLast: with each bit a lane keeps
/// one half of the numbers and gives the other half to its neighbour. It ends with left_of() of them, from `base` on.
/// Both neighbours add the same two numbers, so that bits do not depend on who does.
template <int kCount, int kFirst, int kLast, class T>
__device__ __forceinline__ void add_over_lanes(T* numbers, int& base) {
  if constexpr (kFirst >= kLast) {
    constexpr unsigned kAll = 0xffffffffU;
    constexpr int kHalf = kCount / 2;
    if constexpr (kHalf > 0) {
      const bool upper = (threadIdx.x & kFirst) != 0;
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        const T given = upper ? numbers[i] : numbers[i + kHalf];
        const T kept = upper ? numbers[i + kHalf] : numbers[i];
        numbers[i] = kept + __shfl_xor_sync(kAll, given, kFirst);
      }
      if (upper) base += kHalf;
      add_over_lanes<kHalf, kFirst / 2, kLast>(numbers, base);
    } else {
      numbers[0] += __shfl_xor_sync(kAll, numbers[0], kFirst);
      add_over_lanes<1, kFirst / 2, kLast>(numbers, base);
    }
  }
}

/// How many of kCount numbers a lane ends with when so many lanes have added them up.
TESSERA_CUDA_HOST_DEVICE constexpr int left_of(int count, int lanes) {
  return count > lanes ? count / lanes : 1;
}
/// Of lanes that end with the same numbers, is it the first?
template <int kCount, int kFirst, int kLast>
__device__ __forceinline__ bool is_first_with_them() {
  constexpr int kLanes = kFirst < kLast ? 1 : 2 * kFirst / kLast;
  constexpr int kAlike = kLanes > kCount ? kLanes / kCount : 1;
  return (threadIdx.x & (kLast * (kAlike - 1))) == 0;
}

/// The sums of one round, `kFew` for each row or column of the tile, from each of kParts parts of the group: adds the
/// parts in their order and writes C.
template <int kParts, int kFew, int kTile, class T>
__device__ __forceinline__ void store_tile(const T* sums, const GemmThinArguments<T>& gemm, T* c, std::int64_t first,
                                           int first_few) {
  const bool few_together = gemm.c_few_step < gemm.c_many_step;
  for (int i = static_cast<int>(threadIdx.x); i < kFew * kTile; i += kThinThreads) {
    const int one = few_together ? i % kFew : i / kTile;
    const int place = few_together ? i / kFew : i % kTile;
    if (first_few + one >= gemm.few || first + place >= gemm.many) continue;
    T sum = sums[one * kTile + place];
#pragma unroll
    for (int part = 1; part < kParts; ++part) sum += sums[(part * kFew + one) * kTile + place];
    T* const element = c + (first_few + one) * gemm.c_few_step + (first + place) * gemm.c_many_step;
    T value = gemm.alpha * sum;
    if (gemm.beta != T(0)) value += gemm.beta * *element;
    *element = value;
  }
}

/// Calls compute(product, begin, end, first) for every tile of a group: groups stand along the large operand, for parts
/// of k along y, for products of the batch along z.
template <GemmThinShape kShape, class T, class Compute>
__device__ __forceinline__ void for_each_tile(GemmThinArguments<T> gemm, Compute compute) {
  let_next_kernel_start();
  wait_for_kernel_before();
  gemm.large += blockIdx.z * gemm.stride_large;
  gemm.small += blockIdx.z * gemm.stride_small;
  gemm.c += blockIdx.z * gemm.stride_c + blockIdx.y * gemm.split_stride;
  const std::int64_t begin = blockIdx.y * gemm.split_k;
  const std::int64_t end = min(begin + gemm.split_k, gemm.k);
  for (std::int64_t first = std::int64_t{blockIdx.x} * kShape.tile(); first < gemm.many;
       first += std::int64_t{gridDim.x} * kShape.tile()) {
    compute(gemm, begin, end, first);
  }
}

}  // namespace tessera::cuda

// A kernel's names: few is the power of two from the problem's rows or columns on. gemm_thin.cpp builds the same names.
#define TESSERA_GEMM_THIN_ONE(way, T, type, few, lanes, suffix, aligned)       \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kThinThreads, 2) \
      tessera_gemm_thin_##way##_##type##_##few##_##lanes##suffix(              \
          const __grid_constant__ tessera::cuda::GemmThinArguments<T> gemm) {  \
    tessera::cuda::gemm_thin_##way<few, lanes, aligned>(gemm);                 \
  }
#define TESSERA_GEMM_THIN_LANES(way, few, lanes)                            \
  TESSERA_GEMM_THIN_ONE(way, float, float32, few, lanes, , true)            \
  TESSERA_GEMM_THIN_ONE(way, float, float32, few, lanes, _unaligned, false) \
  TESSERA_GEMM_THIN_ONE(way, double, float64, few, lanes, , true)           \
  TESSERA_GEMM_THIN_ONE(way, double, float64, few, lanes, _unaligned, false)
#define TESSERA_GEMM_THIN(way, lanes)    \
  TESSERA_GEMM_THIN_LANES(way, 1, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 2, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 4, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 8, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 16, lanes)
