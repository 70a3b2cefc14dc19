// Cutting a corner off a volume that is too large for the oracle, and comparing.
#include "conformance/denoise/denoise_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "conformance/guarded_buffer.h"
#include "conformance/patch_match/patch_match_case.h"

namespace tessera::conformance {

namespace {

/// Differences of voxels that the oracle may compute: some seconds on one core.
constexpr double kMostOracleDifferences = 3e9;
/// Voxels that are checked along each axis of a volume that is too large.
constexpr std::int64_t kCheckedSide = 6;

double differences_of(const Denoise& problem) {
  double flops = 0;
  if (problem.has(DenoiseStage::hard_threshold)) flops += patch_work(problem.matching(problem.hard)).flops;
  if (problem.has(DenoiseStage::wiener)) flops += patch_work(problem.matching(problem.wiener)).flops;
  return flops / 2;
}

/// How many voxels at a corner's cut a step computes otherwise than in the whole. References whose windows are cut, or
/// that stand at the last place because it is the last, stand up to a window before the last place, a patch before the
/// cut; what they reach begins half a window earlier, and their windows' other half is what was cut.
std::int64_t reach_of(std::int64_t patch, std::int64_t window) {
  return patch + window;
}

template <class T>
std::vector<T> corner_of(std::span<const T> whole, const Denoise& problem, const Denoise& corner) {
  std::vector<T> part;
  for (std::int64_t row = 0; row < problem.channels * corner.size.y * corner.size.z && !whole.empty(); ++row) {
    const std::int64_t y = row % corner.size.y;
    const std::int64_t z = row / corner.size.y % corner.size.z;
    const std::int64_t channel = row / corner.size.y / corner.size.z;
    const std::int64_t first = ((channel * problem.size.z + z) * problem.size.y + y) * problem.size.x;
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
    part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(corner.size.x));
  }
  return part;
}

/// Of floats; of integers the type decides how they are scaled.
template <class T>
float largest_magnitude(std::span<const T> volume) {
  float largest = 0;
  if constexpr (std::is_same_v<T, float>) {
    for (const float voxel : volume) largest = std::isfinite(voxel) ? std::max(largest, std::abs(voxel)) : largest;
  }
  return largest;
}

}  // namespace

template <class T>
DenoiseReference<T>::DenoiseReference(const Denoise& problem, std::span<const T> volume, std::span<const T> basic)
    : problem_(with_profile(problem)), corner_(problem_), checked_(problem.size) {
  if (differences_of(problem_) > kMostOracleDifferences) {
    const auto cut = [&](auto axis) {
      std::int64_t reach = 0;
      for (const DenoiseStep* step : {&problem_.hard, &problem_.wiener})
        reach += reach_of(step->patch.*axis, step->window.*axis);
      if (problem_.size.*axis <= kCheckedSide + reach) return;
      corner_.size.*axis = kCheckedSide + reach;
      checked_.*axis = kCheckedSide;
    };
    cut(&PerAxis::x);
    cut(&PerAxis::y);
    cut(&PerAxis::z);
  }
  const std::vector<T> part = corner_of(volume, problem_, corner_);
  const std::vector<T> basic_part = corner_of(basic, problem_, corner_);
  // The whole's basic estimate may pass the volume's largest voxel, but not the power of two above it: voxels of cases
  // are cut at 1, above which that is 2.
  expected_ =
      expected_denoise<T>(corner_, part, basic_part, std::max(largest_magnitude(volume), largest_magnitude(basic)));
}

template <class T>
void DenoiseReference<T>::check(std::span<const T> result, Comparison& comparison) const {
  for (std::int64_t row = 0; row < problem_.channels * checked_.y * checked_.z; ++row) {
    const std::int64_t y = row % checked_.y;
    const std::int64_t z = row / checked_.y % checked_.z;
    const std::int64_t channel = row / checked_.y / checked_.z;
    const std::int64_t first = ((channel * problem_.size.z + z) * problem_.size.y + y) * problem_.size.x;
    const std::int64_t expected = ((channel * corner_.size.z + z) * corner_.size.y + y) * corner_.size.x;
    for (std::int64_t x = 0; x < checked_.x; ++x) {
      const T found = result[static_cast<std::size_t>(first + x)];
      const T right = expected_[static_cast<std::size_t>(expected + x)];
      const Expected exactly{{static_cast<double>(right), 0}, 0};
      if (!comparison.accepts(static_cast<double>(found), exactly))
        comparison.fail("voxel " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
                        " of channel " + std::to_string(channel) + ": " +
                        describe_difference(static_cast<double>(found), exactly));
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    const float unwritten = poison<float>();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (std::memcmp(&result[i], &unwritten, sizeof unwritten) == 0)
        return comparison.fail("voxel number " + std::to_string(i) + " is not written");
    }
  }
}

template class DenoiseReference<std::uint8_t>;
template class DenoiseReference<std::uint16_t>;
template class DenoiseReference<float>;

}  // namespace tessera::conformance
