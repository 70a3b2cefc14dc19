// The oracle of nonlocal_means tested itself, without a device: that the definition's roundings take it nowhere, that
// it removes noise, and that planted errors are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "conformance/nonlocal_means/nonlocal_means_run.h"
#include "noisy_image.h"

namespace tessera::conformance {
namespace {

constexpr double kSigma = 20;
constexpr std::uint64_t kSeed = 6;

NonlocalMeans image(std::int64_t channels) {
  return with_usual_parameters({.size = {48, 40, 1}, .channels = channels, .sigma = kSigma, .type = DataType::float32});
}

template <class T>
std::vector<T> result_of(const MeansOracle<T>& oracle, std::size_t count) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(oracle.voxel(static_cast<std::int64_t>(i)));
  return result;
}

double rms(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(MeansOracleTest, the_definitions_roundings_are_small) {
  // A weight is looked up at most half a step of 1/256 away, a whole step where it is 1, and rounded to 2^-20; voxels
  // are rounded to 2^-19 of 256, which moves distances by less than a step. So a weight is off by 1/128 of itself and
  // 2^-20, and a mean by that share of how far the candidates are apart.
  for (const std::int64_t channels : {1, 3}) {
    const std::vector<float> noisy = noisy_image(channels, kSigma, kSeed);
    const MeansOracle<float> oracle(image(channels), noisy);
    const auto [least, most] = std::minmax_element(noisy.begin(), noisy.end());
    const double range = static_cast<double>(*most) - static_cast<double>(*least);
    double worst = 0;
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      worst = std::max(worst, std::abs(static_cast<double>(oracle.voxel(index)) - oracle.in_double(index)));
    }
    EXPECT_LE(worst, range * (2.0 / 128 + 441 * 0x1p-20));
    EXPECT_LE(worst, 0.05);  // levels of 255, as conformance/README.md says of this image
  }
}

TEST(MeansOracleTest, noise_is_removed) {
  for (const std::int64_t channels : {1, 3}) {
    const std::vector<float> clean = clean_image(channels);
    const std::vector<float> noisy = noisy_image(channels, kSigma, kSeed);
    const MeansOracle<float> oracle(image(channels), noisy);
    EXPECT_NEAR(rms(noisy, clean), kSigma, 1.0);
    EXPECT_LT(rms(result_of(oracle, noisy.size()), clean), kSigma / 2);
  }
}

TEST(MeansOracleTest, what_is_not_finite_is_kept_and_used_for_nothing) {
  const std::vector<float> noisy = noisy_image(1, kSigma, kSeed);
  std::vector<float> planted = noisy;
  const std::size_t place = 20 * 48 + 24;
  planted[place] = std::numeric_limits<float>::infinity();
  for (const double sigma : {kSigma, 1e30}) {
    NonlocalMeans problem = image(1);
    problem.sigma = sigma;
    const std::vector<float> result = result_of(MeansOracle<float>(problem, planted), planted.size());
    EXPECT_EQ(result[place], std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < result.size(); ++i) EXPECT_EQ(std::isfinite(result[i]), i != place);
    // Beyond its window, and the patches in there, nothing is seen of it.
    EXPECT_EQ(result[0], MeansOracle<float>(problem, noisy).voxel(0));
  }
}

TEST(MeansOracleTest, the_ends_of_sigma_are_the_volume_and_the_mean_of_the_window) {
  const std::vector<std::uint8_t> volume{10, 20, 31, 200, 5, 6};
  NonlocalMeans problem{.size = {6, 1, 1}, .patch = {3, 1, 1}, .window = {3, 1, 1}, .type = DataType::uint8};
  EXPECT_EQ(result_of(MeansOracle<std::uint8_t>(with_usual_parameters(problem), volume), 6), volume);
  problem.sigma = 1e-300;
  EXPECT_EQ(result_of(MeansOracle<std::uint8_t>(with_usual_parameters(problem), volume), 6), volume);
  problem.sigma = 1e300;
  const std::vector<std::uint8_t> means{15, 20, 84, 79, 70, 6};  // halves up
  EXPECT_EQ(result_of(MeansOracle<std::uint8_t>(with_usual_parameters(problem), volume), 6), means);
}

TEST(MeansReferenceTest, planted_errors_are_found) {
  const NonlocalMeans problem = image(1);
  const std::vector<float> noisy = noisy_image(1, kSigma, kSeed);
  const MeansReference<float> reference(problem, noisy);
  std::vector<float> result = result_of(MeansOracle<float>(problem, noisy), noisy.size());
  const auto passes = [&] {
    Comparison comparison(DataType::float32);
    reference.check(result, comparison);
    return !comparison.failed();
  };
  EXPECT_TRUE(passes());
  for (const std::size_t place : {std::size_t{0}, result.size() / 2, result.size() - 1}) {
    const float right = result[place];
    for (const float wrong : {std::nextafter(right, 1000.0F), std::numeric_limits<float>::quiet_NaN()}) {
      result[place] = wrong;
      EXPECT_FALSE(passes()) << place;
    }
    result[place] = right;
  }
}

}  // namespace
}  // namespace tessera::conformance
