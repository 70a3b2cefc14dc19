// patch_match, box_sums, a reference at every place: a stack of bytes in registers, networks of minimum and maximum
// that sort a list of keys and merge it in, and sets of candidates whose nearest give a limit.
#pragma once

#include <climits>
#include <utility>

#include "ops/patch_match/patch_match_box_arguments.h"

namespace tessera::cuda {

/// Behind all that are.
inline constexpr std::uint32_t kNoKey = 0xffffffffU;

/// Sorts a and b.
template <class Key>
__device__ __forceinline__ void in_order(Key& a, Key& b) {
  const Key least = min(a, b);
  b = max(a, b);
  a = least;
}

/// Batcher's network: merges by odd and even places.
template <int kKeys>
struct BoxNetwork {
  int count = 0;
  int pairs[64][2] = {};

  constexpr BoxNetwork() {
    for (int p = 1; p < kKeys; p *= 2) {
      for (int k = p; k >= 1; k /= 2) {
        for (int j = k % p; j + k < kKeys; j += 2 * k) {
          for (int i = j; i < j + k && i + k < kKeys; ++i) {
            if (i / (p * 2) != (i + k) / (p * 2)) continue;
            pairs[count][0] = i;
            pairs[count++][1] = i + k;
          }
        }
      }
    }
  }
};

template <int kKeys>
inline constexpr BoxNetwork<kKeys> kBoxNetwork;

template <class Key, int kKeys, int... kPairs>
__device__ __forceinline__ void sort_by_network(Key (&keys)[kKeys], std::integer_sequence<int, kPairs...>) {
  (in_order(keys[std::integral_constant<int, kBoxNetwork<kKeys>.pairs[kPairs][0]>::value],
            keys[std::integral_constant<int, kBoxNetwork<kKeys>.pairs[kPairs][1]>::value]),
   ...);
}
template <class Key, int kKeys>
__device__ __forceinline__ void sort_keys(Key (&keys)[kKeys]) {
  sort_by_network(keys, std::make_integer_sequence<int, kBoxNetwork<kKeys>.count>());
}
/// Sorts keys that rise and then fall.
template <class Key>
__device__ __forceinline__ void sort_bitonic(Key (&keys)[BoxGroup::kPlaces]) {
#pragma unroll
  for (int apart = BoxGroup::kPlaces / 2; apart >= 1; apart /= 2) {
#pragma unroll
    for (int i = 0; i < BoxGroup::kPlaces; ++i) {
      if ((i & apart) == 0) in_order(keys[i], keys[i + apart]);
    }
  }
}

/// In a warp's list: where a lane's own go, and where all of its reference, which four lanes have, begin and end.
struct BoxPlaces {
  int at;
  int begin;
  int end;
};
/// For so many of the lane's own, behind `before` that are listed already; then these are counted there, too.
__device__ __forceinline__ BoxPlaces box_places_in_list(int count, int& before) {
  constexpr unsigned kWarp = 0xffffffffU;
  int end = count;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const int others = __shfl_up_sync(kWarp, end, apart);
    if (static_cast<int>(threadIdx.x) % 32 >= apart) end += others;
  }
  end += before;
  before = __shfl_sync(kWarp, end, 31);
  const int at = end - count;
  return {at, __shfl_sync(kWarp, at, 0, 4), __shfl_sync(kWarp, end, 3, 4)};
}

/// Moves the sets of two references by so many places. Sets are of steps along z; what is near in one column shall not
/// be in the set of what is near in the next, since a plane of candidates may be nearest.
template <int kTurn, class Key, int kSets>
__device__ __forceinline__ void turn_sets(Key (&sets)[2][kSets]) {
  Key turned[2][kSets];
#pragma unroll
  for (int i = 0; i < 2 * kSets; ++i) turned[i / kSets][i % kSets] = sets[i / kSets][(i + kTurn) % kSets];
#pragma unroll
  for (int i = 0; i < 2 * kSets; ++i) sets[i / kSets][i % kSets] = turned[i / kSets][i % kSets];
}

/// A stack: sorted keys, the nearest first.
struct BoxStack {
  std::uint32_t keys[BoxGroup::kPlaces];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (std::uint32_t& key : keys) key = kNoKey;
  }
  /// Keeps the nearest of its keys and those of a sorted list.
  __device__ __forceinline__ void merge(const std::uint32_t (&list)[BoxGroup::kPlaces]) {
#pragma unroll
    for (int i = 0; i < BoxGroup::kPlaces; ++i) keys[i] = min(keys[i], list[BoxGroup::kPlaces - 1 - i]);
    sort_bitonic(keys);
  }
  /// The same of the stack of the lane whose number differs in this bit. All threads of a warp call it.
  __device__ __forceinline__ void merge_with_lane(unsigned bit) {
    std::uint32_t others[BoxGroup::kPlaces];
#pragma unroll
    for (int i = 0; i < BoxGroup::kPlaces; ++i) others[i] = __shfl_xor_sync(0xffffffffU, keys[i], bit);
    merge(others);
  }
};

/// The 16th largest of four lanes' 16 sums each. All threads of a warp call it.
template <class Sum>
__device__ __forceinline__ Sum box_sum_of_last(const Sum (&sums)[BoxGroup::kPlaces]) {
  constexpr int kKeys = BoxGroup::kPlaces;
  constexpr unsigned kWarp = 0xffffffffU;
  Sum mine[kKeys];
  Sum both[kKeys];
#pragma unroll
  for (int i = 0; i < kKeys; ++i) mine[i] = -sums[i];
  sort_keys(mine);
#pragma unroll
  for (int i = 0; i < kKeys; ++i) both[i] = min(mine[i], __shfl_xor_sync(kWarp, mine[kKeys - 1 - i], 1));
  sort_bitonic(both);
  Sum last = min(both[0], __shfl_xor_sync(kWarp, both[kKeys - 1], 2));
#pragma unroll
  for (int i = 1; i < kKeys; ++i) {
    last = max(last, min(both[i], __shfl_xor_sync(kWarp, both[kKeys - 1 - i], 2)));
  }
  return -last;
}

}  // namespace tessera::cuda
