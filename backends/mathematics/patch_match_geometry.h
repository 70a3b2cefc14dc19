// patch_match: where references and their candidates lie along one axis, and the largest distance that is kept. Windows
// and steps that pass the volume are cut to it, so that no sum of them overflows. In a slab all places are counted from
// the first voxel that is held: but for where references stand, and first_voxel, it is a volume like any other.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/ops/patch_match.h>

namespace tessera::mathematics {

/// One axis of the problem.
struct PatchAxis {
  std::int64_t size = 1;  ///< voxels that are held
  std::int64_t patch = 1;
  std::int64_t places = 1;  ///< that a patch has
  std::int64_t window = 1;  ///< up to twice the places: more is the same
  std::int64_t step = 1;    ///< up to the places
  std::int64_t references = 1;
  std::int64_t start = 0;       ///< where the first reference would stand, were there no last place
  std::int64_t last_place = 0;  ///< of the whole volume; references beyond it stand there

  [[nodiscard]] std::int64_t place(std::int64_t reference) const noexcept {
    return std::min(start + reference * step, last_place);
  }
  /// The candidates of a reference at `place`, from the first to the one behind the last.
  [[nodiscard]] std::int64_t first_candidate(std::int64_t place) const noexcept {
    return std::max<std::int64_t>(place - window / 2, 0);
  }
  [[nodiscard]] std::int64_t end_of_candidates(std::int64_t place) const noexcept {
    return std::min(place - window / 2 + window, places);
  }
  /// The most that a reference has.
  [[nodiscard]] std::int64_t most_candidates() const noexcept { return std::min(window, places); }
};

struct PatchGeometry {
  explicit PatchGeometry(const PatchMatch& problem) noexcept {
    for (const auto& [axis, number] :
         {std::pair{&PatchGeometry::x, &PerAxis::x}, std::pair{&PatchGeometry::y, &PerAxis::y},
          std::pair{&PatchGeometry::z, &PerAxis::z}}) {
      const std::int64_t size = problem.size.*number;
      const std::int64_t patch = problem.patch.*number;
      const std::int64_t held = problem.held().*number;
      const std::int64_t places = held - patch + 1;
      const std::int64_t step = std::min(problem.step.*number, size - patch + 1);
      this->*axis = {
          held, patch,       places, std::min(problem.window.*number, 2 * places), step, problem.references().*number,
          0,    size - patch};
      if (problem.slab.slices == 0 || number != problem.slab_axis()) continue;
      (this->*axis).start = problem.slab.first_reference * step - problem.slab.first_slice;
      (this->*axis).last_place -= problem.slab.first_slice;
      first_voxel = problem.slab.first_slice * (problem.size.product() / size);
    }
  }
  PatchAxis x;
  PatchAxis y;
  PatchAxis z;
  std::int64_t first_voxel = 0;  ///< index in the whole volume of the first that is held
};

/// The largest distance that the threshold keeps, -1 if it keeps none: an infinite one is never kept.
template <class Distance>
[[nodiscard]] Distance largest_kept_distance(const PatchMatch& problem) noexcept {
  if (!(problem.threshold >= 0)) return -1;
  if constexpr (std::is_same_v<Distance, float>) {
    constexpr float kMost = std::numeric_limits<float>::max();
    if (problem.threshold >= static_cast<double>(kMost)) return kMost;
    const auto nearest = static_cast<float>(problem.threshold);
    return static_cast<double>(nearest) <= problem.threshold ? nearest : std::nextafter(nearest, 0.0F);
  } else {
    constexpr double kMost = 0x1p62;
    return static_cast<Distance>(std::floor(std::min(problem.threshold, kMost)));
  }
}

/// What stands in the places of a stack that are left.
template <class Distance>
inline constexpr Distance kEmptyDistance = std::numeric_limits<Distance>::has_infinity
                                               ? std::numeric_limits<Distance>::infinity()
                                               : std::numeric_limits<Distance>::max();

/// The largest distance that integers of the problem's type can have.
[[nodiscard]] inline std::int64_t largest_patch_distance(const PatchMatch& problem) noexcept {
  const std::int64_t most = problem.type == DataType::uint8 ? 255 : 65535;
  return most * most * problem.patch.product();
}

/// A distance and, in the bits below it, a candidate's number in its window, as one key that sorts like the two: how
/// many bits each takes. Bits of a float that is not negative rise as the number does. The highest bit of a key is 0:
/// none looks like one that is missing.
struct PatchKeyBits {
  int distance = 0;
  int number = 0;
};
inline constexpr int kPatchKeyBits = 63;

[[nodiscard]] inline PatchKeyBits patch_key_bits(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  const auto bits = [](std::int64_t largest) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
  };
  constexpr int kFloatBits = 31;
  return {problem.type == DataType::float32 ? kFloatBits : bits(largest_patch_distance(problem)),
          bits(g.x.window - 1) + bits(g.y.window - 1) + bits(g.z.window - 1)};
}

/// Do keys of integers that are kept fit into 32 bits, of which the highest is 0?
[[nodiscard]] inline bool patch_key_is_short(const PatchMatch& problem) noexcept {
  const std::int64_t largest = std::min(largest_patch_distance(problem), largest_kept_distance<std::int64_t>(problem));
  const int distance = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(largest, 0))));
  return problem.type != DataType::float32 && distance + patch_key_bits(problem).number < 32;
}

/// "", or the sentence that says why a key does not hold both.
[[nodiscard]] inline std::string why_no_patch_key(const PatchMatch& problem) {
  const PatchKeyBits bits = patch_key_bits(problem);
  if (bits.distance + bits.number <= kPatchKeyBits) return "";
  return "patch_match has distances of " + std::to_string(bits.distance) + " bits and candidates of " +
         std::to_string(bits.number) + ", but a key has " + std::to_string(kPatchKeyBits);
}

}  // namespace tessera::mathematics
