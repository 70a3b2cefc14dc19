// nonlocal_means: how voxels become whole numbers, which candidates a voxel has, what a distance weighs, and how means
// become voxels again. docs/decisions/0020 defines all of it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <tessera/ops/nonlocal_means.h>

namespace tessera::mathematics {

/// Floats become whole numbers of magnitudes up to 2^kMeansVoxelBits.
inline constexpr int kMeansVoxelBits = 19;
/// What a voxel that is not finite becomes: further from any that is than the patches of a volume can be.
inline constexpr std::int32_t kMeansNoVoxel = std::int32_t{1} << 26;
/// A weight of 1 as a whole number.
inline constexpr int kMeansWeightBits = 20;
/// Weights are looked up: entries of the table, and how many of them lie between 1 and 1/e.
inline constexpr std::int64_t kMeansWeights = 4096;
inline constexpr double kMeansSteps = 256;
/// Exponents e that volumes of floats may have: voxels are counted in units of 2^(e - kMeansVoxelBits).
inline constexpr int kLeastMeansExponent = -100;
inline constexpr int kMostMeansExponent = 128;

/// One axis of the problem: a voxel's candidates and patch reach from so many voxels before it to so many behind it.
struct MeansAxis {
  std::int64_t size = 1;
  std::int64_t candidates_before = 0;  ///< all less than `size`: more lie out of any volume
  std::int64_t candidates_behind = 0;
  std::int64_t patch = 1;
  std::int64_t patch_before = 0;

  /// Voxels with the mirrored ones at both ends, of which the patch of voxel i is the i-th and those that follow it.
  [[nodiscard]] std::int64_t with_borders() const noexcept { return size + patch - 1; }
  /// The voxel that one of them is.
  [[nodiscard]] std::int64_t mirrored(std::int64_t bordered) const noexcept {
    const std::int64_t turn = 2 * size;
    const std::int64_t place = ((bordered - patch_before) % turn + turn) % turn;
    return place < size ? place : turn - 1 - place;
  }
};

/// x, y and z.
[[nodiscard]] inline std::array<MeansAxis, 3> means_axes(const NonlocalMeans& problem) noexcept {
  std::array<MeansAxis, 3> axes;
  constexpr std::int64_t PerAxis::*kNumbers[] = {&PerAxis::x, &PerAxis::y, &PerAxis::z};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t size = problem.size.*kNumbers[i];
    const std::int64_t window = problem.window.*kNumbers[i];
    const std::int64_t patch = problem.patch.*kNumbers[i];
    axes[i] = {size, std::min(window / 2, size - 1), std::min(window - 1 - window / 2, size - 1), patch, patch / 2};
  }
  return axes;
}

/// How distances become weights, in the whole numbers of a volume.
struct MeansScale {
  std::uint64_t noise = 0;  ///< distances up to this one weigh 1
  float steps = 0;          ///< entries of the table that a distance of 1 more goes on
};

/// A distance above this one weighs nothing: patches of finite voxels have none, others no other. Such distances are
/// kept apart by themselves where weights are looked up in a table.
[[nodiscard]] inline std::uint64_t means_reach(const NonlocalMeans& problem) noexcept {
  return static_cast<std::uint64_t>(problem.patch.product() * problem.channels) << (2 * kMeansVoxelBits + 2);
}

/// `exponent` as of means_exponent(); any for integers, which are counted as they are.
[[nodiscard]] inline MeansScale means_scale(const NonlocalMeans& problem, int exponent) noexcept {
  const int bits = problem.type == DataType::float32 ? kMeansVoxelBits - exponent : 0;
  const auto voxels = static_cast<double>(problem.patch.product() * problem.channels);
  const double sigma = std::ldexp(problem.sigma, bits);
  const double strength = problem.strength * sigma;
  // Beyond these ends every distance there can be gets what it gets at them.
  constexpr double kMostNoise = 0x1p52;
  constexpr double kLeastSteps = 0x1p-60;
  constexpr double kMostSteps = 4096;
  return {static_cast<std::uint64_t>(std::floor(std::min(2 * sigma * sigma * voxels, kMostNoise))),
          static_cast<float>(std::clamp(kMeansSteps / (strength * strength * voxels), kLeastSteps, kMostSteps))};
}

[[nodiscard]] inline std::vector<std::uint32_t> means_weights() {
  std::vector<std::uint32_t> weights(static_cast<std::size_t>(kMeansWeights));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::uint32_t>(
        std::round(std::ldexp(std::exp(-(static_cast<double>(i) + 0.5) / kMeansSteps), kMeansWeightBits)));
  weights[0] = std::uint32_t{1} << kMeansWeightBits;
  return weights;
}

/// For kernels, which find the exponent themselves: the weights and, behind them, of each exponent from the least to
/// the most the lower and upper half of `noise` and the bits of `steps`. Integers have one entry.
[[nodiscard]] inline std::vector<std::uint32_t> means_table(const NonlocalMeans& problem) {
  std::vector<std::uint32_t> table = means_weights();
  const int most = problem.type == DataType::float32 ? kMostMeansExponent : kLeastMeansExponent;
  for (int exponent = kLeastMeansExponent; exponent <= most; ++exponent) {
    const MeansScale scale = means_scale(problem, exponent);
    table.push_back(static_cast<std::uint32_t>(scale.noise));
    table.push_back(static_cast<std::uint32_t>(scale.noise >> 32));
    table.push_back(std::bit_cast<std::uint32_t>(scale.steps));
  }
  return table;
}

/// Of a volume of floats whose largest finite magnitude is this.
[[nodiscard]] inline int means_exponent(float largest) noexcept {
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return largest == 0 ? 0 : std::clamp(exponent, kLeastMeansExponent, kMostMeansExponent);
}

template <class T>
[[nodiscard]] std::int32_t means_number(T voxel, int exponent) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (!std::isfinite(voxel)) return kMeansNoVoxel;
    return static_cast<std::int32_t>(std::nearbyint(std::ldexp(voxel, kMeansVoxelBits - exponent)));
  } else {
    return voxel;
  }
}

/// The mean of candidates, of which `sum` is the weighted sum and `weights` that of the weights: halves up.
template <class T>
[[nodiscard]] T means_voxel(std::int64_t sum, std::int64_t weights, int exponent) noexcept {
  const std::int64_t numerator = 2 * sum + weights;
  std::int64_t mean = numerator / (2 * weights);
  if (numerator % (2 * weights) < 0) --mean;
  if constexpr (std::is_same_v<T, float>) {
    constexpr float kMost = std::numeric_limits<float>::max();  // what was rounded up may have passed it
    return std::clamp(std::ldexp(static_cast<float>(mean), exponent - kMeansVoxelBits), -kMost, kMost);
  } else {
    return static_cast<T>(mean);
  }
}

}  // namespace tessera::mathematics
