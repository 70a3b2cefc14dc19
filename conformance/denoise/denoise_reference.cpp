// Cutting corners off a volume that is too large for the oracle, and comparing.
#include "conformance/denoise/denoise_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>

#include "conformance/guarded_buffer.h"
#include "conformance/patch_match/patch_match_case.h"

namespace tessera::conformance {

namespace {

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
/// cut; what they reach begins half a window earlier, and their windows' other half is what was cut. Behind a cut at a
/// reference's place those whose windows are cut stand up to half a window, and reach as far again and a patch.
std::int64_t reach_of(std::int64_t patch, std::int64_t window) {
  return patch + window;
}

/// Calls visit(voxel of `whole`, voxel of `part`, how many lie beside each other) for the rows of a box of `count`
/// voxels at `begin` of the part, which lies at `first` of the whole; each channel has one.
template <class Visit>
void for_rows(const Denoise& whole, const Denoise& part, const PerAxis& first, const PerAxis& begin,
              const PerAxis& count, Visit visit) {
  for (std::int64_t row = 0; row < whole.channels * count.y * count.z; ++row) {
    const std::int64_t y = begin.y + row % count.y;
    const std::int64_t z = begin.z + row / count.y % count.z;
    const std::int64_t channel = row / count.y / count.z;
    visit(((channel * whole.size.z + first.z + z) * whole.size.y + first.y + y) * whole.size.x + first.x + begin.x,
          ((channel * part.size.z + z) * part.size.y + y) * part.size.x + begin.x, count.x);
  }
}

template <class T>
std::vector<T> part_of(std::span<const T> whole, const Denoise& problem, const Denoise& part, const PerAxis& first) {
  std::vector<T> voxels;
  if (whole.empty()) return voxels;
  for_rows(problem, part, first, {0, 0, 0}, part.size, [&](std::int64_t from, std::int64_t, std::int64_t count) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(from);
    voxels.insert(voxels.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  });
  return voxels;
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
DenoiseReference<T>::DenoiseReference(const Denoise& problem, std::span<const T> volume, std::span<const T> basic,
                                      double most_differences)
    : problem_(with_profile(problem)) {
  if (differences_of(problem_) > most_differences) {
    corners_ = {corner(false), corner(true)};
  } else {
    corners_.push_back({.problem = problem_, .checked = problem_.size, .expected = {}});
  }
  // The whole's basic estimate may pass the volume's largest voxel, but not the power of two above it: voxels of cases
  // are cut at 1, above which that is 2.
  const float largest = std::max(largest_magnitude(volume), largest_magnitude(basic));
  for (Corner& corner : corners_) {
    const std::vector<T> part = part_of(volume, problem_, corner.problem, corner.first);
    const std::vector<T> basic_part = part_of(basic, problem_, corner.problem, corner.first);
    corner.expected = expected_denoise<T>(corner.problem, part, basic_part, largest);
  }
}

template <class T>
typename DenoiseReference<T>::Corner DenoiseReference<T>::corner(bool is_last) const {
  Corner corner{.problem = problem_, .checked = problem_.size, .expected = {}};
  for (const auto axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) {
    std::int64_t reach = 0;
    for (const DenoiseStep* step : {&problem_.hard, &problem_.wiener})
      reach += reach_of(step->patch.*axis, step->window.*axis);
    const std::int64_t size = problem_.size.*axis;
    if (size <= kCheckedSide + reach) continue;
    if (is_last) {
      // Both steps' references stand where those of the whole do.
      const std::int64_t both_steps = std::lcm(problem_.hard.step.*axis, problem_.wiener.step.*axis);
      corner.first.*axis = (size - kCheckedSide - reach) / both_steps * both_steps;
      corner.unharmed.*axis = size - corner.first.*axis - kCheckedSide;
    }
    corner.problem.size.*axis = is_last ? size - corner.first.*axis : kCheckedSide + reach;
    corner.checked.*axis = kCheckedSide;
  }
  return corner;
}

template <class T>
void DenoiseReference<T>::check(const Corner& corner, std::span<const T> result, Comparison& comparison) const {
  for_rows(problem_, corner.problem, corner.first, corner.unharmed, corner.checked,
           [&](std::int64_t first, std::int64_t expected, std::int64_t count) {
             for (std::int64_t x = 0; x < count; ++x) {
               const T found = result[static_cast<std::size_t>(first + x)];
               const T right = corner.expected[static_cast<std::size_t>(expected + x)];
               const Expected exactly{{static_cast<double>(right), 0}, 0};
               if (comparison.accepts(static_cast<double>(found), exactly)) continue;
               const std::int64_t row = (first + x) / problem_.size.x;
               comparison.fail("voxel " + std::to_string((first + x) % problem_.size.x) + ", " +
                               std::to_string(row % problem_.size.y) + ", " +
                               std::to_string(row / problem_.size.y % problem_.size.z) + " of channel " +
                               std::to_string(row / problem_.size.y / problem_.size.z) + ": " +
                               describe_difference(static_cast<double>(found), exactly));
             }
           });
}

template <class T>
void DenoiseReference<T>::check(std::span<const T> result, Comparison& comparison) const {
  for (const Corner& corner : corners_) check(corner, result, comparison);
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
