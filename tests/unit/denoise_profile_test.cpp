// denoise's profiles in the front half: what they fill in, and what they leave as it is.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

Denoise image(double sigma, DataType type = DataType::uint8) {
  return {.size = {640, 480, 1}, .sigma = sigma, .type = type};
}

TEST(DenoiseProfileTest, an_image_and_a_volume_have_patches_of_their_own) {
  const Denoise flat = with_profile(image(25));
  EXPECT_EQ(flat.hard.patch, (PerAxis{8, 8, 1}));
  EXPECT_EQ(flat.wiener.window, (PerAxis{39, 39, 1}));
  EXPECT_EQ(flat.wiener.transform, PatchTransform::dct);
  Denoise volume = image(25);
  volume.size.z = 90;
  const Denoise solid = with_profile(volume);
  EXPECT_EQ(solid.hard.patch, (PerAxis{4, 4, 4}));
  EXPECT_EQ(solid.hard.window, (PerAxis{15, 15, 15}));
  EXPECT_EQ(solid.hard.transform, PatchTransform::haar);
  EXPECT_GT(solid.shrinkage, 0);
}

TEST(DenoiseProfileTest, what_is_given_stays) {
  Denoise asked = image(25);
  asked.hard.patch.x = 4;
  asked.hard.kaiser = 0;
  asked.wiener.threshold = 7;
  asked.wiener.max_patches = 5;
  asked.shrinkage = 1.5;
  const Denoise filled = with_profile(asked);
  EXPECT_EQ(filled.hard.patch, (PerAxis{4, 8, 1}));
  EXPECT_EQ(filled.hard.kaiser, 0);
  EXPECT_EQ(filled.wiener.threshold, 7);
  EXPECT_EQ(filled.wiener.max_patches, 5);
  EXPECT_EQ(filled.shrinkage, 1.5);
  EXPECT_EQ(with_profile(filled), filled) << "a second time changes nothing";
}

TEST(DenoiseProfileTest, little_noise_raises_thresholds_where_the_range_is_known) {
  const double usual = with_profile(image(50)).wiener.threshold;
  EXPECT_GT(with_profile(image(5)).wiener.threshold, usual);
  EXPECT_EQ(with_profile(image(5, DataType::float32)).wiener.threshold, usual);
  Denoise known = image(5, DataType::float32);
  known.range = 255;
  EXPECT_EQ(with_profile(known).wiener.threshold, with_profile(image(5)).wiener.threshold);
  EXPECT_EQ(with_profile(image(5 * 257, DataType::uint16)).wiener.threshold, with_profile(image(5)).wiener.threshold);
}

TEST(DenoiseProfileTest, much_noise_widens_the_wiener_patches_of_images_where_the_range_is_known) {
  const PerAxis usual{6, 6, 1};
  const PerAxis wide{7, 7, 1};
  EXPECT_EQ(with_profile(image(25)).wiener.patch, usual);
  EXPECT_EQ(with_profile(image(39.9)).wiener.patch, usual);
  EXPECT_EQ(with_profile(image(40)).wiener.patch, wide);
  EXPECT_EQ(with_profile(image(40)).hard.patch, with_profile(image(25)).hard.patch);
  EXPECT_EQ(with_profile(image(40 * 257, DataType::uint16)).wiener.patch, wide);
  EXPECT_EQ(with_profile(image(40, DataType::float32)).wiener.patch, usual);
  Denoise asked = image(40, DataType::float32);
  asked.range = 255;
  EXPECT_EQ(with_profile(asked).wiener.patch, wide);
  asked.wiener.patch = {8, 8, 1};
  EXPECT_EQ(with_profile(asked).wiener.patch, asked.wiener.patch);
  Denoise volume = image(90);
  volume.size.z = 90;
  EXPECT_EQ(with_profile(volume).wiener.patch, (PerAxis{4, 4, 4}));
}

TEST(DenoiseProfileTest, the_stacks_are_a_patch_match) {
  const Denoise filled = with_profile(image(25));
  const PatchMatch matching = filled.matching(filled.hard);
  EXPECT_EQ(matching.size, filled.size);
  EXPECT_EQ(matching.patch, filled.hard.patch);
  EXPECT_EQ(matching.max_patches, filled.hard.max_patches);
  EXPECT_EQ(matching.threshold, filled.hard.threshold * 25 * 25 * 64);
  // 170 references along an axis of 512, of whose windows 17.7 reach a voxel, and 16 patches of each stack.
  EXPECT_LE(filled.most_estimates(filled.hard), 320 * 16.0);
}

}  // namespace
}  // namespace tessera
