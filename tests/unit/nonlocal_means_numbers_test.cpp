// nonlocal_means: usual parameters; that no sum can overflow; scales and weights at both ends; mirrored borders.
#include "mathematics/nonlocal_means_numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace tessera::mathematics {
namespace {

TEST(NonlocalMeansTest, usual_parameters_are_those_of_images_and_of_volumes) {
  const NonlocalMeans image = with_usual_parameters({.size = {50, 40, 1}});
  EXPECT_EQ(image.patch, (PerAxis{7, 7, 1}));
  EXPECT_EQ(image.window, (PerAxis{21, 21, 1}));
  EXPECT_EQ(image.strength, NonlocalMeans::kUsualStrength);
  const NonlocalMeans volume = with_usual_parameters({.size = {50, 1, 30}, .strength = 2, .window = {0, 0, 5}});
  EXPECT_EQ(volume.patch, (PerAxis{3, 1, 3}));
  EXPECT_EQ(volume.window, (PerAxis{11, 1, 5}));
  EXPECT_EQ(volume.strength, 2);
}

/// Of the largest patch, in two volumes of colours that are as far apart as they can be, and of all candidates.
TEST(NonlocalMeansNumbersTest, no_sum_passes_its_type) {
  constexpr double kVoxels = NonlocalMeans::kLargestPatch * 3;
  EXPECT_LT(kVoxels * 255 * 255, std::numeric_limits<std::int32_t>::max());
  EXPECT_LT(kVoxels * 65535 * 65535, 0x1p53);
  constexpr double kFinite = 2 << kMeansVoxelBits;
  constexpr double kMissing = kMeansNoVoxel - (1 << kMeansVoxelBits);
  const double reach = static_cast<double>(means_reach({.channels = 3, .patch = {8, 8, 8}}));
  EXPECT_EQ(reach, kVoxels * kFinite * kFinite);
  EXPECT_LT(reach, kMissing * kMissing) << "a voxel that is not finite is further than any patch";
  constexpr double kFurthest = kMeansNoVoxel + (1 << kMeansVoxelBits);
  EXPECT_LT(kFurthest * kFurthest, 0x1p53);
  EXPECT_LT(kVoxels * kFurthest * kFurthest, 0x1p63);
  const double weights = NonlocalMeans::kMostCandidates * (1 << kMeansWeightBits);
  EXPECT_LE(2 * weights * (1 << kMeansVoxelBits) + weights, 0x1p63 - 1);
}

TEST(NonlocalMeansNumbersTest, scales_at_their_ends_do_not_differ_from_what_is_beyond_them) {
  NonlocalMeans problem{.size = {9, 9, 9}, .strength = 1, .patch = {3, 3, 3}, .type = DataType::uint8};
  problem.sigma = 10;
  EXPECT_EQ(means_scale(problem, 0).noise, 2U * 100 * 27);
  EXPECT_EQ(means_scale(problem, 0).steps, static_cast<float>(256.0 / 2700));
  const auto reach = static_cast<double>(means_reach({.channels = 3, .patch = {8, 8, 8}}));
  for (const double sigma : {1e-320, 1e-9, 1e9, 1e308}) {
    problem.sigma = sigma;
    const MeansScale scale = means_scale(problem, 0);
    if (sigma < 1) {
      EXPECT_EQ(scale.noise, 0U);
      EXPECT_GE(scale.steps, kMeansWeights);  // a distance of 1 weighs nothing
    } else {
      EXPECT_GE(static_cast<double>(scale.noise), reach) << "all distances weigh 1";
      EXPECT_GE(scale.steps, 0x1p-60F);
    }
    problem.strength = 1e308;
    EXPECT_GE(means_scale(problem, 0).steps, 0x1p-60F);
    problem.strength = 1e-308;
    EXPECT_LE(means_scale(problem, 0).steps, 4096.0F);
    problem.strength = 1;
  }
}

TEST(NonlocalMeansNumbersTest, weights_fall_from_1_to_0) {
  const std::vector<std::uint32_t> weights = means_weights();
  EXPECT_EQ(weights.front(), 1U << 20);
  EXPECT_EQ(weights.back(), 0U);
  for (std::size_t i = 1; i < weights.size(); ++i) EXPECT_LE(weights[i], weights[i - 1]);
  EXPECT_EQ(means_table({.type = DataType::uint8}).size(), weights.size() + 3);
  EXPECT_EQ(means_table({.type = DataType::float32}).size(), weights.size() + 3 * 229);
}

TEST(NonlocalMeansNumbersTest, borders_are_mirrored_again_and_again) {
  const MeansAxis axis{.size = 3, .patch = 12, .patch_before = 6};
  std::vector<std::int64_t> voxels;
  for (std::int64_t i = 0; i < axis.with_borders(); ++i) voxels.push_back(axis.mirrored(i));
  EXPECT_EQ(voxels, (std::vector<std::int64_t>{0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
}

TEST(NonlocalMeansNumbersTest, means_are_rounded_halves_up) {
  EXPECT_EQ(means_voxel<std::uint8_t>(5, 2, 0), 3);
  EXPECT_EQ(means_voxel<float>(-5, 2, 19), -2.0F);
  EXPECT_EQ(means_voxel<float>(-6, 4, 19), -1.0F);
  EXPECT_EQ(means_voxel<float>(-7, 4, 19), -2.0F);
  EXPECT_EQ(means_voxel<float>(std::int64_t{1} << 19, 1, 128), std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace tessera::mathematics
