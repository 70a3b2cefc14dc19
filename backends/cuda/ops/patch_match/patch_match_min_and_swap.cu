// patch_match, min_and_swap: one group a reference; the stack comes from repeated minimum reductions in place.
//
//   shared memory: pairs of distance and number           A pass of the window is computed behind the stack. Then for
//   +-stack------+-pass of candidates----+                each place k all threads reduce what stands from k on: pair i
//   | 1  3  5  9 | 7  2  8  -  4  6  ... |   k = 1        and pair i + half are compared, and the nearer goes to the
//   +------------+-----------------------+                front, halving by halving. A pair that loses is swapped, not
//      ^k    swap if nearer    ^k + half                  overwritten, so that nothing is lost for the next place.
//
// Any length will do: of an odd one the pair in the middle waits for the next halving. The last kUnroll pairs are left
// to thread 0, in a loop that is unrolled: less waiting than a barrier for each halving. A pair without a patch is
// further than any other, and at the first of those in front the pass is done.
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

template <class Types>
struct PatchPairs {
  typename Types::Stored distance[kPatchMostPlaces + kPatchPass];
  std::int64_t number[kPatchMostPlaces + kPatchPass];  ///< of the candidate in its window

  [[nodiscard]] __device__ __forceinline__ bool is_nearer(int a, int b) const {
    return distance[a] < distance[b] || (distance[a] == distance[b] && number[a] < number[b]);
  }
  __device__ __forceinline__ void swap(int a, int b) {
    const typename Types::Stored its_distance = distance[a];
    const std::int64_t its_number = number[a];
    distance[a] = distance[b];
    number[a] = number[b];
    distance[b] = its_distance;
    number[b] = its_number;
  }
};

/// Puts the nearest of the pairs from `front` up to `end` at the front. All threads call it.
template <int kUnroll, class Pairs>
__device__ __forceinline__ void min_and_swap(Pairs& pairs, int front, int end) {
  const int thread = static_cast<int>(threadIdx.x);
  int count = end - front;
#pragma unroll 1
  while (count > kUnroll) {
    const int half = (count + 1) / 2;
    for (int i = front + thread; i < front + count - half; i += static_cast<int>(blockDim.x)) {
      if (pairs.is_nearer(i + half, i)) pairs.swap(i, i + half);
    }
    __syncthreads();
    count = half;
  }
  if constexpr (kUnroll > 1) {
    if (thread == 0) {
      int nearest = front;
#pragma unroll
      for (int i = 1; i < kUnroll; ++i) {
        if (i < count && pairs.is_nearer(front + i, nearest)) nearest = front + i;
      }
      if (nearest != front) pairs.swap(front, nearest);
    }
    __syncthreads();
  }
}

template <class Types, int kUnroll>
__device__ __forceinline__ void match_by_minima(const PatchArguments& match) {
  __shared__ PatchPairs<Types> pairs;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t reference = blockIdx.x;
  const PatchWindow window(match, reference);
  const int places = static_cast<int>(match.max_patches);
  const std::int64_t candidates = window.candidates();
  for (int i = thread; i < places; i += threads) {
    pairs.distance[i] = Types::empty();
    pairs.number[i] = INT64_MAX;
  }
#pragma unroll 1
  for (std::int64_t first = 0; first < candidates; first += kPatchPass) {
    const int length = static_cast<int>(candidates - first < kPatchPass ? candidates - first : kPatchPass);
    for (int i = thread; i < length; i += threads) {
      pairs.distance[places + i] = kept_patch_distance<Types>(match, window, first + i);
      pairs.number[places + i] = first + i;
    }
    __syncthreads();
    bool is_done = false;
#pragma unroll 1
    for (int front = 0; front < places && !is_done; ++front) {
      min_and_swap<kUnroll>(pairs, front, places + length);
      is_done = pairs.distance[front] == Types::empty();
    }
    __syncthreads();
  }
  int count = 0;
  for (int i = 0; i < places; ++i) count += pairs.distance[i] != Types::empty() ? 1 : 0;
  for (int i = thread; i < places; i += threads) {
    const std::int64_t place = reference * places + i;
    Types::distances(match)[place] = pairs.distance[i];
    match.indices[place] = i < count ? window.index(match, pairs.number[i]) : -1;
  }
  if (thread == 0) match.counts[reference] = count;
}

}  // namespace tessera::cuda

#define TESSERA_PATCH_MINIMA(Types, name, unroll)                                \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchMostThreads) \
      tessera_patch_match_min_and_swap_##unroll##_##name(                        \
          const __grid_constant__ tessera::cuda::PatchArguments match) {         \
    tessera::cuda::match_by_minima<Types, unroll>(match);                        \
  }
#define TESSERA_PATCH_MINIMA_OF(Types, name) \
  TESSERA_PATCH_MINIMA(Types, name, 1)       \
  TESSERA_PATCH_MINIMA(Types, name, 4)       \
  TESSERA_PATCH_MINIMA(Types, name, 16)

TESSERA_PATCH_TYPES(TESSERA_PATCH_MINIMA_OF)
