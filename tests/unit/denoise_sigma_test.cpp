// How strong noise is estimated to be, where it is known.
#include <tessera/ops/denoise_sigma.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "expect_error.h"

namespace tessera {
namespace {

/// A ramp with a step in it, and normally distributed noise (Box and Muller), all of which a byte holds.
template <class T>
std::vector<T> noisy_ramp(const PerAxis& size, double sigma) {
  std::mt19937_64 bits(11);
  const auto evenly = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
  std::vector<T> volume;
  for (std::int64_t i = 0; i < size.product(); ++i) {
    const double noise = std::sqrt(-2 * std::log(evenly())) * std::cos(2 * std::numbers::pi * evenly());
    const double along = static_cast<double>(i % size.x) / static_cast<double>(size.x);
    const double level = 90 + 20 * along + (along > 0.5 ? 40 : 0);
    volume.push_back(static_cast<T>(std::round(level + sigma * noise)));
  }
  return volume;
}

TEST(DenoiseSigmaTest, noise_is_found_in_images_volumes_and_lines) {
  for (const double sigma : {3.0, 10.0}) {
    for (const PerAxis& size : {PerAxis{101, 80, 1}, PerAxis{25, 20, 17}, PerAxis{9001, 1, 1}, PerAxis{1, 90, 90}}) {
      EXPECT_NEAR(estimate_sigma(noisy_ramp<float>(size, sigma), size), sigma, 0.15 * sigma);
      EXPECT_NEAR(estimate_sigma(noisy_ramp<std::uint8_t>(size, sigma), size), sigma, 0.15 * sigma);
      EXPECT_NEAR(estimate_sigma(noisy_ramp<std::uint16_t>(size, sigma), size), sigma, 0.15 * sigma);
    }
  }
}

TEST(DenoiseSigmaTest, what_is_not_finite_is_left_out) {
  const PerAxis size{40, 40, 1};
  std::vector<float> volume = noisy_ramp<float>(size, 5);
  for (std::size_t i = 0; i < volume.size(); i += 97) volume[i] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NEAR(estimate_sigma(volume, size), 5, 1);
  EXPECT_EQ(estimate_sigma(std::vector<float>(1600, std::numeric_limits<float>::infinity()), size), 0);
  EXPECT_EQ(estimate_sigma(std::vector<float>(1600, 7.0F), size), 0);
}

TEST(DenoiseSigmaTest, a_size_that_does_not_fit_is_refused) {
  const std::vector<float> volume(24, 1.0F);
  constexpr auto kRefused = ErrorCode::invalid_argument;
  EXPECT_ERROR(static_cast<void>(estimate_sigma(volume, {4, 3, 1})), kRefused, "24 voxels", "4 x 3 x 1");
  EXPECT_ERROR(static_cast<void>(estimate_sigma(volume, {4, 0, 6})), kRefused, "size.y of estimate_sigma is 0");
  EXPECT_ERROR(static_cast<void>(estimate_sigma(std::vector<float>(1), {1, 1, 1})), kRefused, "at least 2");
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  EXPECT_ERROR(static_cast<void>(estimate_sigma(volume, {kFar, kFar, kFar})), kRefused, "24 voxels");
}

}  // namespace
}  // namespace tessera
