// patch_match, min_and_swap: one group a reference; the stack comes from repeated minimum reductions in place.
//
// shared memory: pairs of distance and number           A pass of the window is computed behind the stack. Pair i is
// +-stack------+-pass of candidates----+                thread i's, modulo their number, and each keeps the nearest of
// | 1  3  5  9 | 7  2  8  -  4  6  ... |   k = 1        its own in registers. For each place k these are reduced: in a
// +------------+-----------------------+                warp by shuffles, then over warps. The nearest pair is swapped
//    ^k    <------- swap -----^                         with the one at k, so that nothing is lost for the next place,
//                                                       and the two threads whose pairs these are look at theirs again.
//
// Any length will do. A pair without a patch is further than any other, and at the first of those in front the pass is
// done; one in which nothing is nearer than the last of the stack is left out. Where the patch has 4 voxels along each
// axis the reference's stay in registers. Reduced in shared memory alone, halving by halving, it is slower than
// "insertion" on an H200.
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

namespace {

constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffU;

/// The distances of one reference. kPatch: the patch's voxels along each axis where the loops are made for them, or 0.
template <class Types, int kPatch>
class PatchOfReference {
 public:
  using Sum = typename Types::Sum;

  __device__ PatchOfReference(const PatchArguments& match, const PatchWindow& window) : match_(match), window_(window) {
    if constexpr (kPatch > 0) {
      const auto* const from = Types::volume(match) + window.reference;
#pragma unroll
      for (int i = 0; i < kPatch * kPatch * kPatch; ++i) voxels_[i] = from[row_at(i / kPatch) + i % kPatch];
    }
  }
  /// Of a candidate, further than any other if it is not kept.
  [[nodiscard]] __device__ __forceinline__ Sum distance(std::int64_t number) const {
    const std::int64_t candidate = window_.candidates() <= INT_MAX ? small_candidate(static_cast<unsigned>(number))
                                                                   : window_.candidate(match_, number);
    const Sum found = distance_at(candidate);
    if constexpr (std::is_same_v<Sum, float>) {
      return found <= match_.largest_float ? found : none();
    } else {
      return match_.largest >= 0 && found <= static_cast<std::uint64_t>(match_.largest) ? found : none();
    }
  }
  [[nodiscard]] static __device__ __forceinline__ Sum none() {
    if constexpr (std::is_same_v<Sum, float>) {
      return INFINITY;
    } else {
      return static_cast<Sum>(~Sum{0});
    }
  }

 private:
  /// The row of a patch, plane after plane.
  [[nodiscard]] __device__ __forceinline__ std::int64_t row_at(int row) const {
    return (row / kPatch * match_.size[1] + row % kPatch) * match_.size[0];
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t small_candidate(unsigned number) const {
    const auto width = static_cast<unsigned>(window_.count[0]);
    const auto height = static_cast<unsigned>(window_.count[1]);
    const unsigned row = number / width;
    const unsigned plane = row / height;
    return ((window_.first[2] + plane) * match_.size[1] + window_.first[1] + (row - plane * height)) * match_.size[0] +
           window_.first[0] + (number - row * width);
  }
  [[nodiscard]] __device__ __forceinline__ Sum distance_at(std::int64_t candidate) const {
    if constexpr (kPatch == 0) {
      return patch_distance<Types>(match_, window_.reference, candidate);
    } else {
      const auto* const there = Types::volume(match_) + candidate;
      Sum planes = 0;
#pragma unroll
      for (int z = 0; z < kPatch; ++z) {
        Sum rows = 0;
#pragma unroll
        for (int y = 0; y < kPatch; ++y) {
          const int row = z * kPatch + y;
          Sum sum = 0;
#pragma unroll
          for (int x = 0; x < kPatch; ++x) {
            sum = Types::add(sum, Types::square(voxels_[row * kPatch + x], there[row_at(row) + x]));
          }
          rows = Types::add(rows, sum);
        }
        planes = Types::add(planes, rows);
      }
      return planes;
    }
  }

  const PatchArguments& match_;
  const PatchWindow& window_;
  typename Types::Voxel voxels_[kPatch > 0 ? kPatch* kPatch* kPatch : 1];
};

/// The stack and a pass in shared memory.
template <class Sum>
struct PatchPairs {
  Sum distance[kPatchMostPlaces + kPatchPass];
  std::int64_t number[kPatchMostPlaces + kPatchPass];  ///< of the candidate in its window
  Sum warp_distance[2][kPatchMostThreads / kWarp];     ///< the nearest of every warp, in turns
  std::int64_t warp_number[2][kPatchMostThreads / kWarp];
  int warp_pair[2][kPatchMostThreads / kWarp];
};

/// A pair, and its distance.
template <class Sum>
struct Nearest {
  Sum distance;
  int pair;

  __device__ __forceinline__ void take(const PatchPairs<Sum>& pairs, Sum other, int its_pair) {
    if (other < distance || (other == distance && pairs.number[its_pair] < pairs.number[pair])) {
      distance = other;
      pair = its_pair;
    }
  }
};

__device__ __forceinline__ void wait_for_group() {
  if (blockDim.x == kWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// The nearest of the thread's pairs from `front` up to `end`; there is one at `front` or behind it.
template <int kUnroll, class Sum>
[[nodiscard]] __device__ __forceinline__ Nearest<Sum> own_nearest(const PatchPairs<Sum>& pairs, int front, int end) {
  const int threads = static_cast<int>(blockDim.x);  // a power of two
  Nearest<Sum> nearest{pairs.distance[end - 1], end - 1};
  const int first = front + ((static_cast<int>(threadIdx.x) - front) & (threads - 1));
#pragma unroll kUnroll
  for (int i = first; i < end; i += threads) nearest.take(pairs, pairs.distance[i], i);
  return nearest;
}

/// The nearest of all threads', the same for all of them.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ Nearest<Sum> group_nearest(PatchPairs<Sum>& pairs, Nearest<Sum> nearest,
                                                                    int turn) {
#pragma unroll
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    const Sum distance = __shfl_xor_sync(kWholeWarp, nearest.distance, apart);
    nearest.take(pairs, distance, __shfl_xor_sync(kWholeWarp, nearest.pair, apart));
  }
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  if (warps == 1) {
    __syncwarp();  // numbers are read before they are swapped
    return nearest;
  }
  if (threadIdx.x % kWarp == 0) {
    pairs.warp_distance[turn][threadIdx.x / kWarp] = nearest.distance;
    pairs.warp_number[turn][threadIdx.x / kWarp] = pairs.number[nearest.pair];
    pairs.warp_pair[turn][threadIdx.x / kWarp] = nearest.pair;
  }
  __syncthreads();
  nearest.distance = pairs.warp_distance[turn][0];
  std::int64_t number = pairs.warp_number[turn][0];
  int warp = 0;
  for (int i = 1; i < warps; ++i) {
    const Sum distance = pairs.warp_distance[turn][i];
    const std::int64_t its_number = pairs.warp_number[turn][i];
    if (distance < nearest.distance || (distance == nearest.distance && its_number < number)) {
      nearest.distance = distance;
      number = its_number;
      warp = i;
    }
  }
  nearest.pair = pairs.warp_pair[turn][warp];
  return nearest;
}

/// Puts the nearest of `end` pairs to the front, place by place.
template <int kUnroll, class Sum>
__device__ __forceinline__ void min_and_swap(PatchPairs<Sum>& pairs, int places, int end, Sum none) {
  const int mask = static_cast<int>(blockDim.x) - 1;
  const int thread = static_cast<int>(threadIdx.x);
  Nearest<Sum> own = own_nearest<kUnroll>(pairs, 0, end);
#pragma unroll 1
  for (int front = 0; front < places; ++front) {
    const Nearest<Sum> nearest = group_nearest(pairs, own, front & 1);
    if (nearest.distance == none) return;
    const bool is_swapped = nearest.pair != front;
    if (is_swapped && (nearest.pair & mask) == thread) {
      const std::int64_t number = pairs.number[nearest.pair];
      pairs.distance[nearest.pair] = pairs.distance[front];
      pairs.number[nearest.pair] = pairs.number[front];
      pairs.distance[front] = nearest.distance;
      pairs.number[front] = number;
    }
    wait_for_group();
    // Everybody's nearest may be the last pair, which a thread without pairs names in place of its own.
    const bool is_stale = own.pair == nearest.pair || own.pair == front;
    if (is_stale) own = own_nearest<kUnroll>(pairs, front + 1, end);
  }
}

template <class Types, int kPatch, int kUnroll>
__device__ __forceinline__ void match_by_minima(const PatchArguments& match) {
  using Sum = typename Types::Sum;
  __shared__ PatchPairs<Sum> pairs;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t reference = blockIdx.x;
  const PatchWindow window(match, reference);
  const PatchOfReference<Types, kPatch> patch(match, window);
  const Sum none = patch.none();
  const int places = static_cast<int>(match.max_patches);
  const std::int64_t candidates = window.candidates();
  for (int i = thread; i < places; i += threads) {
    pairs.distance[i] = none;
    pairs.number[i] = INT64_MAX;
  }
  wait_for_group();
#pragma unroll 1
  for (std::int64_t first = 0; first < candidates; first += kPatchPass) {
    const int length = static_cast<int>(candidates - first < kPatchPass ? candidates - first : kPatchPass);
    const Sum limit = pairs.distance[places - 1];
    bool is_nearer = false;
#pragma unroll 1
    for (int i = thread; i < length; i += threads) {
      const Sum distance = patch.distance(first + i);
      pairs.distance[places + i] = distance;
      pairs.number[places + i] = first + i;
      is_nearer = is_nearer || distance < limit;
    }
    if (__syncthreads_or(is_nearer ? 1 : 0) != 0) min_and_swap<kUnroll>(pairs, places, places + length, none);
    __syncthreads();
  }
  int count = 0;
  for (int i = 0; i < places; ++i) count += pairs.distance[i] != none ? 1 : 0;
  for (int i = thread; i < places; i += threads) {
    const std::int64_t place = reference * places + i;
    Types::distances(match)[place] =
        i < count ? static_cast<typename Types::Stored>(pairs.distance[i]) : Types::empty();
    match.indices[place] = i < count ? window.index(match, pairs.number[i]) : -1;
  }
  if (thread == 0) match.counts[reference] = count;
}

}  // namespace

}  // namespace tessera::cuda

#define TESSERA_PATCH_MINIMA(Types, name, patch, unroll)                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchMostThreads) \
      tessera_patch_match_min_and_swap_##unroll##_##name##_##patch(              \
          const __grid_constant__ tessera::cuda::PatchArguments match) {         \
    tessera::cuda::match_by_minima<Types, patch, unroll>(match);                 \
  }
#define TESSERA_PATCH_MINIMA_OF(Types, name) \
  TESSERA_PATCH_MINIMA(Types, name, 0, 1)    \
  TESSERA_PATCH_MINIMA(Types, name, 0, 4)    \
  TESSERA_PATCH_MINIMA(Types, name, 0, 16)   \
  TESSERA_PATCH_MINIMA(Types, name, 4, 1)    \
  TESSERA_PATCH_MINIMA(Types, name, 4, 4)    \
  TESSERA_PATCH_MINIMA(Types, name, 4, 16)

TESSERA_PATCH_TYPES(TESSERA_PATCH_MINIMA_OF)
