// patch_match, packed_key: a thread's stack as sorted keys in registers, and the walk over its window.
//
//   keys, sorted          [ distance | number ]   One comparison orders by distance, then by number, which rises with
//                                                 the index. kPlaces keys stay in registers: a new one goes through all
//                                                 of them by minimum and maximum, without an index.
//
//   a row of the window   kPatchLanes candidates at a time, next to each other along x. Their distances are compared
//   +--+--+--+--+--       with the last one kept; if any is nearer, they pass through shared memory, where a thread can
//   |12|12|12| ..         name them by number. No other thread reads them, so nobody waits.
//   +--+--+--+--+--
#pragma once

#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

/// The half of a key that is a distance, and back.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ std::uint64_t patch_distance_bits(Sum distance) {
  if constexpr (std::is_same_v<Sum, float>) {
    return __float_as_uint(distance);
  } else {
    return distance;
  }
}
template <class Sum>
[[nodiscard]] __device__ __forceinline__ Sum patch_distance_of_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<Sum, float>) {
    return __uint_as_float(static_cast<std::uint32_t>(bits));
  } else {
    return static_cast<Sum>(bits);
  }
}

/// What is nearer than this is kept while places are left.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ Sum first_unkept_sum(const PatchArguments& match) {
  if constexpr (std::is_same_v<Sum, float>) {
    return match.first_unkept_float;
  } else {
    const std::int64_t unkept = match.largest + 1;
    return sizeof(Sum) == 4 && unkept > std::int64_t{UINT_MAX} ? Sum(UINT_MAX) : static_cast<Sum>(unkept);
  }
}

/// Key is an unsigned integer that holds both halves and is never all ones, which means that a place is left.
template <class Types, class Key, int kPlaces>
class PatchKeys {
 public:
  using Sum = typename Types::Sum;

  __device__ explicit PatchKeys(const PatchArguments& match)
      : number_bits_(match.number_bits), limit_(first_unkept_sum<Sum>(match)) {
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) keys_[i] = kNone;
  }
  /// What is not nearer need not be offered.
  [[nodiscard]] __device__ __forceinline__ Sum limit() const {
    return limit_;
  }

  /// The distance of the last of so many places, or what is nearer than is kept, where it is left.
  [[nodiscard]] __device__ __forceinline__ Sum limit_of(const PatchArguments& match, int places) const {
    Key last = 0;
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) last = higher(last, i < places ? keys_[i] : 0);
    return last == kNone ? first_unkept_sum<Sum>(match) : patch_distance_of_bits<Sum>(last >> number_bits_);
  }

  /// Candidates are offered in the order of their numbers.
  __device__ __forceinline__ void offer(Sum distance, std::int64_t number) {
    if (distance < limit_) insert(distance, number);
  }
  /// Candidates nearer than what is first not kept, in any order.
  __device__ __forceinline__ void insert(Sum distance, std::int64_t number) {
    const Key key =
        static_cast<Key>(static_cast<Key>(patch_distance_bits(distance)) << number_bits_) | static_cast<Key>(number);
#pragma unroll
    for (int i = kPlaces - 1; i > 0; --i) keys_[i] = lower(keys_[i], higher(keys_[i - 1], key));
    keys_[0] = lower(keys_[0], key);
    if (keys_[kPlaces - 1] != kNone) limit_ = patch_distance_of_bits<Sum>(keys_[kPlaces - 1] >> number_bits_);
  }

  __device__ __forceinline__ void write(const PatchArguments& match, const PatchWindow& window,
                                        std::int64_t reference) const {
    int count = 0;
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      if (i >= match.max_patches) continue;
      const bool is_kept = keys_[i] != kNone;
      const auto number = static_cast<std::int64_t>(keys_[i] & ((Key{1} << number_bits_) - 1));
      const std::int64_t place = reference * match.max_patches + i;
      const auto distance = patch_distance_of_bits<Sum>(keys_[i] >> number_bits_);
      Types::distances(match)[place] = is_kept ? static_cast<typename Types::Stored>(distance) : Types::empty();
      match.indices[place] = is_kept ? window.index(match, number) : -1;
      count += is_kept ? 1 : 0;
    }
    match.counts[reference] = count;
  }

 private:
  static constexpr Key kNone = static_cast<Key>(~Key{0});
  static __device__ __forceinline__ Key lower(Key a, Key b) {
    return b < a ? b : a;
  }
  static __device__ __forceinline__ Key higher(Key a, Key b) {
    return a < b ? b : a;
  }

  int number_bits_;
  Sum limit_;
  Key keys_[kPlaces];
};

/// What the candidates at these places are found by: one reference's.
/// `find(y, z, x, count, limit, found)` finds the distances of `count` candidates from (x, y, z) on; what is not nearer
/// than the limit may be left unfinished.
template <class Types, class Key, int kPlaces, class Finder>
__device__ __forceinline__ void match_by_keys(const PatchArguments& match, const PatchWindow& window,
                                              std::int64_t reference, const Finder& finder) {
  using Sum = typename Types::Sum;
  __shared__ Sum staged[kPatchLanes][kPatchThreads];
  PatchKeys<Types, Key, kPlaces> keys(match);
  std::int64_t number = 0;
#pragma unroll 1
  for (std::int64_t z = window.first[2]; z < window.first[2] + window.count[2]; ++z) {
#pragma unroll 1
    for (std::int64_t y = window.first[1]; y < window.first[1] + window.count[1]; ++y) {
#pragma unroll 1
      for (std::int64_t x = 0; x < window.count[0]; x += kPatchLanes) {
        const std::int64_t left = window.count[0] - x;
        const int count = left < kPatchLanes ? static_cast<int>(left) : kPatchLanes;
        Sum found[kPatchLanes];
        finder.find(window.first[0] + x, y, z, count, keys.limit(), found);
        unsigned nearer = 0;
#pragma unroll
        for (int i = 0; i < kPatchLanes; ++i) nearer |= i < count && found[i] < keys.limit() ? 1U << i : 0U;
        if (nearer != 0) {
#pragma unroll
          for (int i = 0; i < kPatchLanes; ++i) staged[i][threadIdx.x] = found[i];
        }
#pragma unroll 1
        for (; nearer != 0; nearer &= nearer - 1) {
          const int i = __ffs(static_cast<int>(nearer)) - 1;
          keys.offer(staged[i][threadIdx.x], number + i);
        }
        number += count;
      }
    }
  }
  keys.write(match, window, reference);
}

}  // namespace tessera::cuda
