// patch_match: where references and their candidates lie along one axis, and the largest distance that is kept. Windows
// and steps that pass the volume are cut to it, so that no sum of them overflows.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <tessera/ops/patch_match.h>

namespace tessera::mathematics {

/// One axis of the problem.
struct PatchAxis {
  std::int64_t size = 1;
  std::int64_t patch = 1;
  std::int64_t places = 1;  ///< that a patch has
  std::int64_t window = 1;  ///< up to twice the places: more is the same
  std::int64_t step = 1;    ///< up to the places
  std::int64_t references = 1;

  [[nodiscard]] std::int64_t place(std::int64_t reference) const noexcept {
    return std::min(reference * step, places - 1);
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
    const PerAxis count = problem.references();
    const auto axis = [](std::int64_t size, std::int64_t patch, std::int64_t window, std::int64_t step,
                         std::int64_t references) {
      const std::int64_t places = size - patch + 1;
      return PatchAxis{size, patch, places, std::min(window, 2 * places), std::min(step, places), references};
    };
    x = axis(problem.size.x, problem.patch.x, problem.window.x, problem.step.x, count.x);
    y = axis(problem.size.y, problem.patch.y, problem.window.y, problem.step.y, count.y);
    z = axis(problem.size.z, problem.patch.z, problem.window.z, problem.step.z, count.z);
  }
  PatchAxis x;
  PatchAxis y;
  PatchAxis z;
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

/// "", or the sentence that says why a key does not hold both.
[[nodiscard]] inline std::string why_no_patch_key(const PatchMatch& problem) {
  const PatchKeyBits bits = patch_key_bits(problem);
  if (bits.distance + bits.number <= kPatchKeyBits) return "";
  return "patch_match has distances of " + std::to_string(bits.distance) + " bits and candidates of " +
         std::to_string(bits.number) + ", but a key has " + std::to_string(kPatchKeyBits);
}

}  // namespace tessera::mathematics
