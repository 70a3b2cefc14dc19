// What patch_match must give: for one reference every candidate's distance by the definition, then a sort. Plain loops
// that nobody optimises; they share no code with any backend. The distance of floats is defined operation by operation,
// so here it is computed in float too (this folder is compiled with -ffp-contract=off).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// Of volumes of T.
template <class T>
using PatchDistance = std::conditional_t<std::is_same_v<T, float>, float, std::int64_t>;

/// A stack without its empty places.
template <class T>
struct PatchStack {
  std::vector<PatchDistance<T>> distances;
  std::vector<std::int64_t> indices;
};

/// Where the reference of this number stands.
[[nodiscard]] PerAxis place_of_reference(const PatchMatch& problem, std::int64_t reference);
[[nodiscard]] inline std::int64_t index_of_voxel(const PatchMatch& p, const PerAxis& place) {
  return (place.z * p.size.y + place.y) * p.size.x + place.x;
}
/// The candidates of a reference at `place`, from the first to the one behind the last, on each axis.
struct PatchWindow {
  PerAxis first;
  PerAxis end;
};
[[nodiscard]] PatchWindow window_around(const PatchMatch& problem, const PerAxis& place);

/// `voxel(index)` is the volume's value there.
template <class T, class Volume>
[[nodiscard]] PatchDistance<T> patch_distance(const PatchMatch& p, const Volume& voxel, const PerAxis& a,
                                              const PerAxis& b) {
  using Distance = PatchDistance<T>;
  Distance planes = 0;
  for (std::int64_t z = 0; z < p.patch.z; ++z) {
    Distance rows = 0;
    for (std::int64_t y = 0; y < p.patch.y; ++y) {
      Distance row = 0;
      const std::int64_t row_of_a = index_of_voxel(p, {a.x, a.y + y, a.z + z});
      const std::int64_t row_of_b = index_of_voxel(p, {b.x, b.y + y, b.z + z});
      for (std::int64_t x = 0; x < p.patch.x; ++x) {
        const auto reference = static_cast<Distance>(voxel(row_of_a + x));
        const auto candidate = static_cast<Distance>(voxel(row_of_b + x));
        const Distance difference = reference - candidate;
        const Distance square = difference * difference;
        row = x == 0 ? square : row + square;
      }
      rows = y == 0 ? row : rows + row;
    }
    planes = z == 0 ? rows : planes + rows;
  }
  return planes;
}

template <class T, class Volume>
[[nodiscard]] PatchStack<T> expected_stack(const PatchMatch& p, const Volume& voxel, std::int64_t reference) {
  struct Candidate {
    PatchDistance<T> distance;
    std::int64_t index;
  };
  const PerAxis place = place_of_reference(p, reference);
  const PatchWindow window = window_around(p, place);
  std::vector<Candidate> kept;
  for (std::int64_t z = window.first.z; z < window.end.z; ++z) {
    for (std::int64_t y = window.first.y; y < window.end.y; ++y) {
      for (std::int64_t x = window.first.x; x < window.end.x; ++x) {
        const PatchDistance<T> distance = patch_distance<T>(p, voxel, place, {x, y, z});
        const auto exact = static_cast<double>(distance);
        if (std::isfinite(exact) && exact <= p.threshold) kept.push_back({distance, index_of_voxel(p, {x, y, z})});
      }
    }
  }
  std::sort(kept.begin(), kept.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
  });
  if (kept.size() > static_cast<std::size_t>(p.max_patches)) kept.resize(static_cast<std::size_t>(p.max_patches));
  PatchStack<T> stack;
  for (const Candidate& candidate : kept) {
    stack.distances.push_back(candidate.distance);
    stack.indices.push_back(candidate.index);
  }
  return stack;
}

}  // namespace tessera::conformance
