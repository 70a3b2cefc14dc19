// The oracle and the reference of denoise tested themselves, without a device: that the definition's roundings take it
// nowhere but where a coefficient lies at the threshold, that it removes noise, and that planted errors are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/denoise/denoise_reference.h"
#include "noisy_image.h"

namespace tessera::conformance {
namespace {

constexpr double kSigma = 20;
constexpr std::uint64_t kSeed = 5;

Denoise image(DenoiseStage stage, std::int64_t channels = 1) {
  return {.size = {48, 40, 1},
          .channels = channels,
          .sigma = kSigma,
          .range = 255,
          .type = DataType::float32,
          .stage = stage,
          .hard = {.window = {15, 15, 1}},
          .wiener = {.window = {15, 15, 1}}};
}

/// Of all means, how many lie further than `most` levels from those of the same formulas in double.
std::size_t means_apart(const Denoise& problem, double most) {
  const std::vector<float> volume = noisy_image(problem.channels, kSigma, kSeed);
  std::vector<float> basic;
  if (problem.stage == DenoiseStage::wiener) basic = clean_image(problem.channels);
  const auto as_defined = expected_means<float>(problem, volume, basic, false);
  const auto in_double = expected_means<float>(problem, volume, basic, true);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < as_defined.size(); ++i) apart += std::abs(as_defined[i] - in_double[i]) > most ? 1 : 0;
  return apart;
}

double rms(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(DenoiseOracleTest, the_wiener_filters_roundings_are_small) {
  // A coefficient of a stack of 32 patches of 64 voxels passes some 40 roundings of 2^-24 of what may be 45 times a
  // voxel, and as many on its way back, and a voxel's mean is rounded to 2^-18 of the range at most.
  constexpr double kLevels = 255 * (80 * 45 * 0x1p-24 + 0x1p-18);
  EXPECT_EQ(means_apart(image(DenoiseStage::wiener), kLevels), 0U);
  EXPECT_EQ(means_apart(image(DenoiseStage::wiener, 3), kLevels), 0U);
}

TEST(DenoiseOracleTest, few_coefficients_lie_at_the_threshold) {
  // Where one does, it is kept here and removed there, and takes the voxels of one stack with it.
  const Denoise problem = image(DenoiseStage::hard_threshold);
  EXPECT_LE(means_apart(problem, 0.1), static_cast<std::size_t>(problem.size.product() / 50));
}

TEST(DenoiseOracleTest, noise_is_removed) {
  for (const std::int64_t channels : {1, 3}) {
    const std::vector<float> clean = clean_image(channels);
    const std::vector<float> noisy = noisy_image(channels, kSigma, kSeed);
    const auto basic = expected_denoise<float>(image(DenoiseStage::hard_threshold, channels), noisy, {});
    const auto result = expected_denoise<float>(image(DenoiseStage::both, channels), noisy, {});
    EXPECT_NEAR(rms(noisy, clean), kSigma, 1.0);
    EXPECT_LT(rms(basic, clean), kSigma / 2);
    EXPECT_LT(rms(result, clean), rms(basic, clean));
  }
}

/// Does the reference find the last digit of a voxel wrong, at each of these places?
void expect_planted_errors_are_found(const Denoise& problem, double most_differences,
                                     const std::vector<std::size_t>& places) {
  const std::vector<float> noisy = noisy_image(1, kSigma, kSeed);
  const DenoiseReference<float> reference(problem, noisy, {}, most_differences);
  std::vector<float> result = expected_denoise<float>(problem, noisy, {});
  const auto passes = [&] {
    Comparison comparison(DataType::float32);
    reference.check(result, comparison);
    return !comparison.failed();
  };
  EXPECT_TRUE(passes());
  for (const std::size_t place : places) {
    const float right = result[place];
    result[place] = std::nextafter(right, 1000.0F);
    EXPECT_FALSE(passes()) << place;
    result[place] = right;
  }
}

TEST(DenoiseReferenceTest, planted_errors_are_found) {
  const Denoise problem = image(DenoiseStage::both);
  const auto last = static_cast<std::size_t>(problem.size.product()) - 1;
  expect_planted_errors_are_found(problem, kMostOracleDifferences, {0, last / 2, last});
}

/// Of a volume that is too large for the oracle both ends are checked, whatever the steps are.
TEST(DenoiseReferenceTest, planted_errors_are_found_at_both_ends) {
  Denoise problem = image(DenoiseStage::both);
  problem.hard.window = problem.wiener.window = {3, 3, 1};
  problem.hard.patch = problem.wiener.patch = {4, 4, 1};
  const std::int64_t x = problem.size.x;
  const std::int64_t all = problem.size.product();
  for (const std::int64_t step : {2, 3, 5}) {
    problem.hard.step = {step, step, 1};
    SCOPED_TRACE(step);
    std::vector<std::size_t> places;
    for (const std::int64_t place : {std::int64_t{0}, 5 * x + 5, all - 1, all - 5 * x - 6})
      places.push_back(static_cast<std::size_t>(place));
    expect_planted_errors_are_found(problem, 1, places);
  }
}

/// A corner is denoised as the whole is: what the reference takes for volumes that are too large.
TEST(DenoiseReferenceTest, a_corner_is_that_of_the_whole) {
  Denoise problem = image(DenoiseStage::both);
  problem.hard.window = problem.wiener.window = {3, 3, 1};
  problem.hard.patch = problem.wiener.patch = {4, 4, 1};
  std::vector<float> noisy = noisy_image(1, kSigma, kSeed);
  constexpr float kBright = 300;  // beyond the corner, and beyond the power of two that the others are below
  noisy.back() = kBright;
  const std::vector<float> whole = expected_denoise<float>(problem, noisy, {});
  Denoise corner = problem;
  corner.size.x = 12 + 2 * (4 + 3);
  std::vector<float> part;
  for (std::int64_t i = 0; i < corner.size.product(); ++i)
    part.push_back(noisy[static_cast<std::size_t>(i / corner.size.x * problem.size.x + i % corner.size.x)]);
  const std::vector<float> expected = expected_denoise<float>(corner, part, {}, kBright);
  for (std::int64_t y = 0; y < problem.size.y; ++y) {
    for (std::int64_t x = 0; x < 12; ++x)
      ASSERT_EQ(whole[static_cast<std::size_t>(y * problem.size.x + x)],
                expected[static_cast<std::size_t>(y * corner.size.x + x)])
          << x << ", " << y;
  }
}

}  // namespace
}  // namespace tessera::conformance
