// The stack of one reference as sorted keys: a distance and, in the bits below it, the candidate's number in its
// window. One comparison of 64 bits says which of two is nearer, and of equal distances which comes first.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ops/patch_match/patch_match_operands.h"

namespace tessera::cpu_tbb {

/// Keys of one reference, the nearest first. Candidates are offered in the order of their numbers.
class PatchKeys {
 public:
  PatchKeys() = default;
  /// `memory` has room for so many keys.
  PatchKeys(std::uint64_t* memory, std::int64_t places, int number_bits) noexcept
      : keys_(memory), places_(places), number_bits_(number_bits) {}

  void clear() noexcept { count_ = 0; }
  [[nodiscard]] bool is_full() const noexcept { return count_ == places_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t distance(std::int64_t place) const noexcept { return keys_[place] >> number_bits_; }
  [[nodiscard]] std::uint64_t last_distance() const noexcept { return distance(count_ - 1); }
  [[nodiscard]] std::uint64_t number(std::int64_t place) const noexcept {
    return keys_[place] & ((std::uint64_t{1} << number_bits_) - 1);
  }
  /// Where all places are taken, it must be nearer than the last.
  void insert(std::uint64_t distance, std::uint64_t number) noexcept {
    const std::uint64_t key = distance << number_bits_ | number;
    std::int64_t place = std::min(count_, places_ - 1);
    for (; place > 0 && key < keys_[place - 1]; --place) keys_[place] = keys_[place - 1];
    keys_[place] = key;
    count_ = std::min(count_ + 1, places_);
  }

 private:
  std::uint64_t* keys_ = nullptr;
  std::int64_t places_ = 0;
  std::int64_t count_ = 0;
  int number_bits_ = 0;
};

/// The upper half of a key, and back.
template <class Distance>
[[nodiscard]] std::uint64_t distance_bits(Distance distance) noexcept {
  if constexpr (std::is_same_v<Distance, float>) {
    return std::bit_cast<std::uint32_t>(distance);
  } else {
    return static_cast<std::uint64_t>(distance);
  }
}
template <class Distance>
[[nodiscard]] Distance distance_of_bits(std::uint64_t bits) noexcept {
  if constexpr (std::is_same_v<Distance, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    return static_cast<Distance>(bits);
  }
}

/// Where the candidates of a reference lie: from `first` on, so many along each axis.
struct PatchCandidates {
  PerAxis first;
  PerAxis count;

  /// The place of the candidate of this number: (z * count.y + y) * count.x + x from `first` on.
  [[nodiscard]] PerAxis place_of(std::int64_t number) const noexcept {
    const std::int64_t row = number / count.x;
    return {first.x + number % count.x, first.y + row % count.y, first.z + row / count.y};
  }
};
[[nodiscard]] inline PatchCandidates candidates_of(const mathematics::PatchGeometry& g, const PerAxis& place) noexcept {
  const PerAxis first{g.x.first_candidate(place.x), g.y.first_candidate(place.y), g.z.first_candidate(place.z)};
  return {first,
          {g.x.end_of_candidates(place.x) - first.x, g.y.end_of_candidates(place.y) - first.y,
           g.z.end_of_candidates(place.z) - first.z}};
}

/// Writes the stack of a reference.
template <class T>
void write_stack(const PatchOperands<T>& match, std::int64_t reference, const PatchKeys& keys,
                 const PatchCandidates& candidates) noexcept {
  using Distance = typename PatchOperands<T>::Distance;
  const std::int64_t places = match.problem.max_patches;
  Distance* const distances = match.distances + reference * places;
  std::int64_t* const indices = match.indices + reference * places;
  for (std::int64_t i = 0; i < keys.count(); ++i) {
    const PerAxis at = candidates.place_of(static_cast<std::int64_t>(keys.number(i)));
    distances[i] = distance_of_bits<Distance>(keys.distance(i));
    indices[i] = match.geometry.first_voxel + (at.z * match.geometry.y.size + at.y) * match.geometry.x.size + at.x;
  }
  std::fill(distances + keys.count(), distances + places, mathematics::kEmptyDistance<Distance>);
  std::fill(indices + keys.count(), indices + places, -1);
  match.counts[reference] = static_cast<std::int32_t>(keys.count());
}

/// What is nearer than this is kept while places are left.
template <class Distance>
[[nodiscard]] Distance first_unkept_distance(const PatchMatch& problem) noexcept {
  const auto largest = mathematics::largest_kept_distance<Distance>(problem);
  if (largest < 0) return 0;
  if constexpr (std::is_same_v<Distance, float>) {
    return std::nextafter(largest, std::numeric_limits<float>::infinity());
  } else {
    return largest + 1;
  }
}

}  // namespace tessera::cpu_tbb
