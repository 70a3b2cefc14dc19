// patch_match, box_sums: the problems that the tensor cores' programs are for, a reference at every place, and how full
// their groups are. Every group takes as long, whatever part of its references and their candidates is there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::mathematics {

inline constexpr std::int64_t kPatchDenseWindow = 11;  ///< along each axis, at most
inline constexpr std::int64_t kPatchDensePlaces = 16;  ///< of a stack, at most

/// Patches of 4 x 4 x 4, a reference at every place, windows and stacks that those programs hold?
[[nodiscard]] inline bool is_patch_dense(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  return problem.patch == PerAxis{4, 4, 4} && problem.step == PerAxis{1, 1, 1} &&
         std::max({g.x.window, g.y.window, g.z.window}) <= kPatchDenseWindow &&
         problem.max_patches <= kPatchDensePlaces;
}

/// Groups of so many references along each axis.
[[nodiscard]] inline PerAxis patch_dense_tiles(const PatchMatch& problem, const PerAxis& tile) noexcept {
  const PerAxis references = problem.references();
  return {ceil_div<std::int64_t>(references.x, tile.x), ceil_div<std::int64_t>(references.y, tile.y),
          ceil_div<std::int64_t>(references.z, tile.z)};
}

/// Candidates of all references along an axis, of which those near its ends have fewer.
[[nodiscard]] inline std::int64_t patch_pairs_along(const PatchAxis& axis) noexcept {
  std::int64_t pairs = axis.references * axis.window;
  for (std::int64_t i = 0; i < axis.references; ++i) {
    if (i == kPatchDenseWindow) i = std::max(i, axis.references - kPatchDenseWindow);
    const std::int64_t place = axis.place(i);
    pairs -= axis.window - (axis.end_of_candidates(place) - axis.first_candidate(place));
  }
  return pairs;
}

/// Pairs of a reference and a candidate, of a problem that is_patch_dense().
[[nodiscard]] inline double patch_pairs(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  return static_cast<double>(patch_pairs_along(g.x)) * static_cast<double>(patch_pairs_along(g.y)) *
         static_cast<double>(patch_pairs_along(g.z));
}

/// Of the pairs of patches that groups look at, so many in a hundred are there.
[[nodiscard]] inline double patch_dense_percent(const PatchMatch& problem, const PerAxis& tile) noexcept {
  const PatchGeometry g(problem);
  const PerAxis tiles = patch_dense_tiles(problem, tile);
  const double looked_at = static_cast<double>(tiles.product()) * static_cast<double>(tile.product()) *
                           static_cast<double>(g.x.window) * static_cast<double>(g.y.window * g.z.window);
  return 100 * patch_pairs(problem) / looked_at;
}

}  // namespace tessera::mathematics
