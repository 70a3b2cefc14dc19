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

/// A thread's share of the small operand's next step, on its way to shared memory through registers.
template <GemmThinShape kShape, class T>
struct SmallShare {
  static constexpr int kDepth = kShape.depth();

  /// Steps [first, first + depth), with 0 from `end` on and for sums that do not exist: where a zero stands for a
  /// missing element, the large operand has one as well. Threads that follow each other read elements that do.
  __device__ __forceinline__ void load(const GemmThinArguments<T>& gemm, std::int64_t first, std::int64_t end) {
    for_each(gemm, [&](T& value, int one, int step) {
      const std::int64_t p = first + step;
      value = 0;
      if (one < gemm.few && p < end) value = gemm.small[one * gemm.small_few_step + p * gemm.small_k_step];
    });
  }
  /// Where sums run along, one sum stands after the other, else one step after the other.
  __device__ __forceinline__ void store(const GemmThinArguments<T>& gemm, T* small) {
    for_each(gemm, [&](T& value, int one, int step) {
      small[kShape.along ? one * kDepth + step : step * kShape.few + one] = value;
    });
  }

 private:
  template <class Use>
  __device__ __forceinline__ void for_each(const GemmThinArguments<T>& gemm, Use use) {
    const bool along_k = gemm.small_k_step == 1;
#pragma unroll
    for (int i = 0; i < kShape.small_of_thread(); ++i) {
      const int place = static_cast<int>(threadIdx.x) + i * kThinThreads;
      if (kShape.small_size() % kThinThreads != 0 && place >= kShape.small_size()) continue;
      use(values_[i], along_k ? place / kDepth : place % kShape.few, along_k ? place % kDepth : place / kShape.few);
    }
  }

  T values_[kShape.small_of_thread()];
};

/// Adds up the steps [begin, end) of a tile: load(chunks, first) sends the loads of a step on their way, add(chunks,
/// small) multiplies them with the small operand's part. The next step's loads are on their way meanwhile.
template <GemmThinShape kShape, class Chunks, class T, class Load, class Add>
__device__ __forceinline__ void add_steps(const GemmThinArguments<T>& gemm, std::int64_t begin, std::int64_t end,
                                          T* small, Load load, Add add) {
  if (begin >= end) return;
  Chunks chunks, next;
  SmallShare<kShape, T> share;
  load(chunks, begin);
  share.load(gemm, begin, end);
  __syncthreads();  // the part that a tile before used last has been used
  share.store(gemm, small);
  __syncthreads();
  int used = 0;  // which of two parts of shared memory
  for (std::int64_t first = begin; first < end; first += kShape.depth()) {
    const std::int64_t following = first + kShape.depth();
    if (following < end) {
      load(next, following);
      share.load(gemm, following, end);
    }
    add(chunks, small + used);
    used = kShape.small_size() - used;
    if (following < end) share.store(gemm, small + used);
    __syncthreads();
    chunks = next;
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
#define TESSERA_GEMM_THIN_UP_TO_4(way, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 1, lanes)      \
  TESSERA_GEMM_THIN_LANES(way, 2, lanes)      \
  TESSERA_GEMM_THIN_LANES(way, 4, lanes)
#define TESSERA_GEMM_THIN(way, lanes)    \
  TESSERA_GEMM_THIN_UP_TO_4(way, lanes)  \
  TESSERA_GEMM_THIN_LANES(way, 8, lanes) \
  TESSERA_GEMM_THIN_LANES(way, 16, lanes)
