// patch_match, box_sums for bytes: a stack in registers, and the networks of minimum and maximum that sort a list of
// keys and merge it in.
#pragma once

#include <utility>

#include "ops/patch_match/patch_match_box_bytes.cuh"

namespace tessera::cuda {

using Box = BoxBytes;

/// Sorts a and b.
__device__ __forceinline__ void in_order(std::uint32_t& a, std::uint32_t& b) {
  const std::uint32_t least = min(a, b);
  b = max(a, b);
  a = least;
}

/// Batcher's network: merges by odd and even places. Of 16 keys those behind the last are left out.
struct BoxNetwork {
  int count = 0;
  int pairs[64][2] = {};

  constexpr BoxNetwork() {
    for (int p = 1; p < Box::kSlots; p *= 2) {
      for (int k = p; k >= 1; k /= 2) {
        for (int j = k % p; j + k < Box::kSlots; j += 2 * k) {
          for (int i = j; i < j + k && i + k < Box::kSlots; ++i) {
            if (i / (p * 2) != (i + k) / (p * 2)) continue;
            pairs[count][0] = i;
            pairs[count++][1] = i + k;
          }
        }
      }
    }
  }
};

inline constexpr BoxNetwork kBoxNetwork;

template <int... kPairs>
__device__ __forceinline__ void sort_list(std::uint32_t (&keys)[Box::kSlots], std::integer_sequence<int, kPairs...>) {
  (in_order(keys[std::integral_constant<int, kBoxNetwork.pairs[kPairs][0]>::value],
            keys[std::integral_constant<int, kBoxNetwork.pairs[kPairs][1]>::value]),
   ...);
}

/// The stack of one reference: Box::kPlaces keys, the nearest first. Where fewer are wanted, zeros stand before them.
struct BoxStack {
  std::uint32_t keys[Box::kPlaces];

  __device__ __forceinline__ void clear(int places) {
#pragma unroll
    for (int i = 0; i < Box::kPlaces; ++i) keys[i] = i < Box::kPlaces - places ? 0U : Box::kNone;
  }
  /// Keeps the nearest of its keys and those of a sorted list.
  __device__ __forceinline__ void merge(const std::uint32_t (&list)[Box::kSlots]) {
#pragma unroll
    for (int i = 0; i < Box::kSlots; ++i) {
      std::uint32_t& key = keys[Box::kPlaces - 1 - i];
      key = min(key, list[i]);
    }
#pragma unroll
    for (int apart = Box::kPlaces / 2; apart >= 1; apart /= 2) {
#pragma unroll
      for (int i = 0; i < Box::kPlaces; ++i) {
        if ((i & apart) == 0) in_order(keys[i], keys[i + apart]);
      }
    }
  }
};

}  // namespace tessera::cuda
