// patch_match: which slices of a volume some of its references need.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/ops/patch_match.h>

namespace tessera::detail {

/// Slices along the axis of slabs, from `first` up to `end`.
struct PatchReach {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/// Those under the windows and patches of `count` references from `first_reference` on, along the axis of slabs, of a
/// checked problem without a slab.
[[nodiscard]] inline PatchReach patch_reach(const PatchMatch& whole, std::int64_t first_reference,
                                            std::int64_t count) noexcept {
  const auto axis = whole.slab_axis();
  const std::int64_t last_place = whole.size.*axis - whole.patch.*axis;
  // Steps and windows beyond the volume would overflow.
  const std::int64_t step = std::min(whole.step.*axis, last_place + 1);
  const std::int64_t window = std::min(whole.window.*axis, 2 * (last_place + 1));
  const auto place = [&](std::int64_t reference) { return std::min(reference * step, last_place); };
  return {std::max<std::int64_t>(place(first_reference) - window / 2, 0),
          std::min(place(first_reference + count - 1) - window / 2 + window, last_place + 1) - 1 + whole.patch.*axis};
}

}  // namespace tessera::detail
