// patch_match, packed_key: from how many references on a thread for each takes less time than a group for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mathematics/patch_match_geometry.h"

namespace tessera::mathematics {

/// References of bytes for each multiprocessor from which on threads are ahead. A thread takes as long for one
/// reference as for as many as the card has room for, while min_and_swap takes as much longer as there are more. Of 80
/// random problems on an H200, without a committed file, 75 take what is within a tenth of the faster variant.
inline constexpr double kPatchThreadBytes = 45;

/// The same for the other types, with which a thread's time grows otherwise with the problem: a power law through 143
/// random problems on an H200, without a committed file, of which it takes 138 to within a tenth of the faster variant.
[[nodiscard]] inline double patch_thread_others(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  const auto most = [](const PatchAxis& axis) { return static_cast<double>(std::min(axis.window, axis.places)); };
  const double candidates = most(g.x) * most(g.y) * most(g.z);
  const auto voxels = static_cast<double>(problem.patch.product());
  return 215 * std::pow(candidates, -0.37) * std::pow(voxels, 0.26) *
         std::pow(static_cast<double>(problem.max_patches), -0.16);
}

}  // namespace tessera::mathematics
