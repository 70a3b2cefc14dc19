// The definition of patch_match written down as loops; sequential and naive differ only in who runs them.
//
//   volume                      stack of the reference    A reference is compared with every candidate of its window,
//   +-----------------+         +---+---+---+---          voxel by voxel. One that is nearer than the last of the stack
//   |    +-window-+   |    d    | d | d | d |             is put where it belongs, and what is further moves back: in
//   |    | r  c   |   | ------> | i | i | i |             the operands themselves. Candidates come in the order of
//   |    +--------+   |         +---+---+---+---          their indices, so of equal ones the later goes behind.
//   +-----------------+
#pragma once

#include <algorithm>

#include "ops/patch_match/patch_match_operands.h"

namespace tessera::cpu_tbb {

/// By the definition; for floats in its order, which the compiler keeps (-ffp-contract=off).
template <class T>
[[nodiscard]] typename PatchOperands<T>::Distance patch_distance(const PatchOperands<T>& match, const T* reference,
                                                                 const T* candidate) noexcept {
  using Distance = typename PatchOperands<T>::Distance;
  const PatchMatch& p = match.problem;
  Distance planes = 0;
  for (std::int64_t z = 0; z < p.patch.z; ++z) {
    Distance rows = 0;
    for (std::int64_t y = 0; y < p.patch.y; ++y) {
      const std::int64_t first = (z * p.size.y + y) * p.size.x;
      Distance row = 0;  // 0 + a square is that square, also in float
      for (std::int64_t x = first; x < first + p.patch.x; ++x) {
        const Distance difference = static_cast<Distance>(reference[x]) - static_cast<Distance>(candidate[x]);
        row += difference * difference;
      }
      rows += row;
    }
    planes += rows;
  }
  return planes;
}

/// The stack of one reference, in so many places of both.
template <class Distance>
class PatchStack {
 public:
  PatchStack(Distance* distances, std::int64_t* indices, std::int64_t places, Distance largest) noexcept
      : distances_(distances), indices_(indices), places_(places), largest_(largest) {
    std::fill_n(distances_, places_, mathematics::kEmptyDistance<Distance>);
    std::fill_n(indices_, places_, -1);
  }
  void offer(Distance distance, std::int64_t index) noexcept {
    if (!(distance <= largest_ && distance < distances_[places_ - 1])) return;
    std::int64_t place = std::min(count_, places_ - 1);
    for (; place > 0 && distance < distances_[place - 1]; --place) {
      distances_[place] = distances_[place - 1];
      indices_[place] = indices_[place - 1];
    }
    distances_[place] = distance;
    indices_[place] = index;
    count_ = std::min(count_ + 1, places_);
  }
  [[nodiscard]] std::int32_t count() const noexcept { return static_cast<std::int32_t>(count_); }

 private:
  Distance* distances_;
  std::int64_t* indices_;
  std::int64_t places_;
  Distance largest_;
  std::int64_t count_ = 0;
};

/// Offers all candidates of a reference.
template <class T>
void match_patch(const PatchOperands<T>& match, std::int64_t reference,
                 PatchStack<typename PatchOperands<T>::Distance>& stack) noexcept {
  const mathematics::PatchGeometry& g = match.geometry;
  const std::int64_t x = g.x.place(reference % g.x.references);
  const std::int64_t y = g.y.place(reference / g.x.references % g.y.references);
  const std::int64_t z = g.z.place(reference / g.x.references / g.y.references);
  const T* const patch = match.volume + (z * g.y.size + y) * g.x.size + x;
  for (std::int64_t cz = g.z.first_candidate(z); cz < g.z.end_of_candidates(z); ++cz) {
    for (std::int64_t cy = g.y.first_candidate(y); cy < g.y.end_of_candidates(y); ++cy) {
      for (std::int64_t cx = g.x.first_candidate(x); cx < g.x.end_of_candidates(x); ++cx) {
        const std::int64_t index = (cz * g.y.size + cy) * g.x.size + cx;
        stack.offer(patch_distance(match, patch, match.volume + index), g.first_voxel + index);
      }
    }
  }
}

/// References [first, last).
template <class T>
void match_patches(const PatchOperands<T>& match, std::int64_t first, std::int64_t last) noexcept {
  using Distance = typename PatchOperands<T>::Distance;
  const auto largest = mathematics::largest_kept_distance<Distance>(match.problem);
  const std::int64_t places = match.problem.max_patches;
  for (std::int64_t reference = first; reference < last; ++reference) {
    PatchStack<Distance> stack(match.distances + reference * places, match.indices + reference * places, places,
                               largest);
    match_patch(match, reference, stack);
    match.counts[reference] = stack.count();
  }
}

}  // namespace tessera::cpu_tbb
