// The stages of denoise written down as loops over one stack: what "staged" runs one after the other. The definition is
// docs/decisions/0019; products are not fused with sums (-ffp-contract=off).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/denoise/denoise_colour.h"
#include "ops/denoise/denoise_step.h"

namespace tessera::cpu_tbb {

/// One scaled voxel in one channel. Where `volume` is not finite, `instead` is taken.
template <class T>
[[nodiscard]] float scaled_voxel(const DenoiseStepPlan& plan, const T* volume, const T* instead, std::int64_t index,
                                 std::int64_t channel) noexcept {
  const auto colour = [&](std::int64_t number) {
    const std::int64_t at = number * plan.voxels() + index;
    const auto voxel = static_cast<float>(volume[at]);
    const bool is_taken = instead == nullptr || std::isfinite(voxel);
    return (is_taken ? voxel : static_cast<float>(instead[at])) * plan.numbers.scale();
  };
  return plan.problem.channels == 1 ? colour(0) : channel_of_colours(channel, colour(0), colour(1), colour(2));
}

/// `count` numbers, `apart` from one to the next, times the matrix, or times what it is turned over.
inline void multiply_line(float* line, std::int64_t count, std::int64_t apart, const std::vector<float>& matrix,
                          bool is_inverse) noexcept {
  float sums[Denoise::kLargestSide];
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      const float factor = matrix[static_cast<std::size_t>(is_inverse ? j * count + i : i * count + j)];
      const float product = factor * line[j * apart];
      sums[i] = j == 0 ? product : sums[i] + product;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) line[i * apart] = sums[i];
}

/// Along x, then y, then z; an axis of one voxel stays as it is.
inline void transform_patch_plain(const DenoiseStepPlan& plan, float* patch, bool is_inverse) noexcept {
  const PerAxis& side = plan.step.patch;
  const auto along = [&](std::int64_t count, std::int64_t apart, const std::vector<float>& matrix) {
    if (count == 1) return;
    for (std::int64_t block = 0; block < side.product(); block += count * apart) {
      for (std::int64_t i = 0; i < apart; ++i) multiply_line(patch + block + i, count, apart, matrix, is_inverse);
    }
  };
  along(side.x, 1, plan.tables.x);
  along(side.y, side.x, plan.tables.y);
  along(side.z, side.x * side.y, plan.tables.z);
}

/// Haar's transform along a stack, in place: one coefficient of `members` patches that are `apart` numbers long.
inline void haar_plain(float* stack, std::int64_t members, std::int64_t apart, bool is_inverse) noexcept {
  constexpr float kHalf = 0.70710678118654752440F;
  const auto pairs = [&](std::int64_t distance) {
    for (std::int64_t i = 0; i < members; i += 2 * distance) {
      float& first = stack[i * apart];
      float& second = stack[(i + distance) * apart];
      const float sum = (first + second) * kHalf;
      second = (first - second) * kHalf;
      first = sum;
    }
  };
  if (is_inverse) {
    for (std::int64_t distance = members / 2; distance >= 1; distance /= 2) pairs(distance);
  } else {
    for (std::int64_t distance = 1; distance < members; distance *= 2) pairs(distance);
  }
}

/// Shrinks the coefficients of a stack, between the two transforms along it, and returns the stack's weight. `guide`
/// holds the basic estimate's coefficients; null: the hard threshold.
inline float shrink_plain(const DenoiseStepPlan& plan, std::int64_t channel, float* stack, float* guide,
                          std::int64_t members) noexcept {
  const std::int64_t voxels = plan.step.patch.product();
  const float threshold = plan.numbers.threshold(plan.problem, channel);
  const float variance = plan.numbers.variance(plan.problem, channel);
  constexpr float kUnits = 1 << mathematics::kDenoiseWeightBits;
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v < voxels; ++v) {
    haar_plain(stack + v, members, voxels, false);
    if (guide != nullptr) haar_plain(guide + v, members, voxels, false);
  }
  for (std::int64_t i = 0; i < members * voxels; ++i) {
    if (guide == nullptr) {
      const bool is_kept = std::abs(stack[i]) > threshold;
      sum += is_kept ? 1 : 0;
      if (!is_kept) stack[i] = 0;
    } else {
      const float square = guide[i] * guide[i];
      const float factor = square / (square + variance);
      sum += static_cast<std::int64_t>(std::nearbyint(factor * factor * kUnits));
      stack[i] *= factor;
    }
  }
  for (std::int64_t v = 0; v < voxels; ++v) haar_plain(stack + v, members, voxels, true);
  const float energy = guide == nullptr ? static_cast<float>(sum) : static_cast<float>(sum) * (1 / kUnits);
  return 1 / std::max(energy, 1.0F);
}

/// A weight as a whole number, and an estimate.
[[nodiscard]] inline std::int64_t weight_units(float stack, float window) noexcept {
  constexpr float kUnits = 1 << mathematics::kDenoiseWeightBits;
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(stack * window * kUnits)), 1);
}
[[nodiscard]] inline std::int64_t estimate_units(const DenoiseStepPlan& plan, float estimate) noexcept {
  const float most = plan.numbers.most_units();
  return static_cast<std::int64_t>(std::nearbyint(std::clamp(estimate * plan.numbers.units(), -most, most)));
}

/// The largest power of two that is not more than a stack's count.
[[nodiscard]] inline std::int64_t filtered_members(std::int64_t count) noexcept {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
}

}  // namespace tessera::cpu_tbb
