// denoise: how voxels become numbers of about 1, estimates and weights whole numbers, and sums of them voxels again.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <tessera/ops/denoise.h>

namespace tessera::mathematics {

/// A weight of 1 as a whole number, and a factor's square of 1.
inline constexpr int kDenoiseWeightBits = 20;
/// Estimates may pass the largest voxel by this factor, as a power of two, before they are cut.
inline constexpr int kDenoiseHeadroomBits = 3;
/// Exponents of the scale that volumes of floats may have.
inline constexpr int kLeastDenoiseExponent = -100;
inline constexpr int kMostDenoiseExponent = 126;

/// The weights of a colour's channels in noise: the lengths of the rows of the matrix that makes them of red, green and
/// blue.
[[nodiscard]] inline double denoise_noise_of(std::int64_t channels, std::int64_t channel) noexcept {
  if (channels == 1) return 1;
  return std::sqrt(channel == 0 ? 1.0 / 3.0 : channel == 1 ? 0.5 : 0.375);
}

/// 2^exponent, for what is asked again for every voxel; the exponents of volumes are those of normal floats.
[[nodiscard]] constexpr float power_of_two(int exponent) noexcept {
  constexpr int kBias = 127;
  constexpr int kMantissaBits = 23;
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + kBias) << kMantissaBits);
}
static_assert(power_of_two(-kMostDenoiseExponent) == 0x1p-126F && power_of_two(-kLeastDenoiseExponent) == 0x1p100F);

/// Whole numbers of one step of a volume whose magnitudes are below 2^exponent.
struct DenoiseNumbers {
  DenoiseNumbers(const Denoise& problem, const DenoiseStep& step, int exponent_of_volume) noexcept
      : exponent(exponent_of_volume) {
    // Sums of so many estimates, each up to 2^value_bits and weighed up to 2^kDenoiseWeightBits, stay below 2^61.
    const auto most = static_cast<std::uint64_t>(std::ceil(problem.most_estimates(step)));
    constexpr int kSumBits = 61;
    constexpr int kMostValueBits = 28;
    value_bits = std::min(kMostValueBits, kSumBits - kDenoiseWeightBits - static_cast<int>(std::bit_width(most - 1)));
  }
  /// What voxels are multiplied with.
  [[nodiscard]] float scale() const noexcept { return power_of_two(-exponent); }
  /// Of estimates: units of a whole number in one.
  [[nodiscard]] int fraction_bits() const noexcept { return value_bits - kDenoiseHeadroomBits; }
  [[nodiscard]] float units() const noexcept { return power_of_two(fraction_bits()); }
  [[nodiscard]] float most_units() const noexcept { return power_of_two(value_bits); }

  /// Sigma of a channel in units of scaled voxels; its square is a float that is neither 0 nor infinite.
  [[nodiscard]] double sigma(const Denoise& problem, std::int64_t channel) const noexcept {
    return std::clamp(std::ldexp(problem.sigma * denoise_noise_of(problem.channels, channel), -exponent), 0x1p-60,
                      0x1p60);
  }
  [[nodiscard]] float threshold(const Denoise& problem, std::int64_t channel) const noexcept {
    return static_cast<float>(std::min(problem.shrinkage * sigma(problem, channel), 0x1p100));
  }
  [[nodiscard]] float variance(const Denoise& problem, std::int64_t channel) const noexcept {
    return static_cast<float>(sigma(problem, channel) * sigma(problem, channel));
  }

  int exponent;
  int value_bits = 0;
};

/// The exponent of a volume of integers.
[[nodiscard]] constexpr int denoise_exponent(DataType type) noexcept {
  return type == DataType::uint8 ? 8 : 16;
}
/// The exponent of a volume whose largest finite magnitude is this.
[[nodiscard]] inline int denoise_exponent(float largest) noexcept {
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return largest == 0 ? 0 : std::clamp(exponent, kLeastDenoiseExponent, kMostDenoiseExponent);
}

/// a / b rounded to the nearest whole number, halves up; b is above 0, and the sum 2 a + b is an int64.
[[nodiscard]] constexpr std::int64_t nearest_quotient(std::int64_t a, std::int64_t b) noexcept {
  const std::int64_t numerator = 2 * a + b;
  const std::int64_t quotient = numerator / (2 * b);
  return quotient - (numerator % (2 * b) < 0 ? 1 : 0);
}

/// The voxel that a mean in whole units is. `fraction_bits` as in DenoiseNumbers.
template <class T>
[[nodiscard]] T denoised_voxel(std::int64_t units, int fraction_bits, int exponent) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return std::ldexp(static_cast<float>(units), exponent - fraction_bits);
  } else {
    const int shift = fraction_bits - exponent;  // at least 2, as a voxel has 16 bits at most
    const std::int64_t nearest = (units + (std::int64_t{1} << (shift - 1))) >> shift;
    return static_cast<T>(std::clamp<std::int64_t>(nearest, 0, (std::int64_t{1} << (8 * sizeof(T))) - 1));
  }
}

}  // namespace tessera::mathematics
