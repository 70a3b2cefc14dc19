// `tessera denoise` on files at the edges of what there is: one slice, one line, one voxel, sides that have nothing in
// common, constants, no noise and far too much of it, numbers that are none.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/scratch_folder.h"
#include "tools/denoise/denoise.h"
#include "tools/random/integer_random.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

/// Bars and noise.
template <class T>
std::vector<T> bars(const PerAxis& size, double sigma) {
  std::vector<T> voxels;
  for (std::int64_t i = 0; i < size.product(); ++i) {
    IntegerRandom random(11, 0, static_cast<std::uint64_t>(i));
    const double noise = sigma * static_cast<double>(random.normal(4096)) / 4096;
    voxels.push_back(static_cast<T>(std::floor(100 + (i % size.x < size.x / 2 ? -30 : 30) + noise + 0.5)));
  }
  return voxels;
}

std::string text_of(const PerAxis& size) {
  return std::to_string(size.x) + " " + std::to_string(size.y) + " " + std::to_string(size.z);
}

class DenoiseEdgesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) {
      if (info.id == "cpu:0") return;
    }
    GTEST_SKIP() << "cpu:0 is not here";
  }

  std::string run(const std::string& bytes, DenoiseRequest request = {}) {
    request.input = scratch.write("in", bytes);
    request.output = scratch.path("out");
    (void)denoise_file(request, open("cpu:0"));
    return scratch.read("out");
  }
  template <class T>
  std::vector<T> voxels_of(const std::string& bytes) {
    return numbers_of<T>(read_volume(bytes));
  }

  ScratchFolder scratch;
};

TEST_F(DenoiseEdgesTest, one_slice_is_an_image) {
  const PerAxis size{40, 30, 1};
  const std::string data = stored_as(bars<std::int16_t>(size, 12));
  const std::string image = run(nrrd("short", "40 30", data), {.sigma = 12.0});
  const std::string slice = run(nrrd("short", "40 30 1", data), {.sigma = 12.0});
  EXPECT_EQ(voxels_of<std::int16_t>(slice), voxels_of<std::int16_t>(image));
  NiftiSample head(4, 16, {40, 30, 1}, false);
  EXPECT_EQ(voxels_of<std::int16_t>(run(head.with(data), {.sigma = 12.0})), voxels_of<std::int16_t>(image));
  EXPECT_LT(mean_square(voxels_of<std::int16_t>(image), bars<std::int16_t>(size, 0)), 30) << "of a noise of 144";
}

TEST_F(DenoiseEdgesTest, sides_that_have_nothing_in_common) {
  for (const PerAxis& size : {PerAxis{1, 1, 1}, PerAxis{2, 1, 1}, PerAxis{1, 1, 90}, PerAxis{5, 1, 70},
                              PerAxis{3, 2, 1}, PerAxis{70, 3, 2}, PerAxis{2, 50, 9}, PerAxis{7, 6, 1}}) {
    SCOPED_TRACE(text_of(size));
    for (const DenoiseProfile profile : {DenoiseProfile::fast, DenoiseProfile::normal, DenoiseProfile::high}) {
      for (const double sigma : {15.0, 60.0}) {
        const std::string bytes = nrrd("uchar", text_of(size), stored_as(bars<std::uint8_t>(size, 15)));
        const std::string out = run(bytes, {.sigma = sigma, .profile = profile});
        EXPECT_EQ(out.size(), bytes.size());
        EXPECT_EQ(out, run(bytes, {.sigma = sigma, .profile = profile})) << "another time";
      }
    }
  }
}

TEST_F(DenoiseEdgesTest, what_is_constant_stays_so) {
  for (const PerAxis& size : {PerAxis{30, 20, 1}, PerAxis{14, 11, 9}}) {
    SCOPED_TRACE(text_of(size));
    const std::vector<std::uint16_t> voxels(static_cast<std::size_t>(size.product()), 40321);
    const std::string bytes = nrrd("ushort", text_of(size), stored_as(voxels));
    EXPECT_EQ(run(bytes), bytes) << "sigma is estimated as 0";
    EXPECT_EQ(run(bytes, {.sigma = 900.0}), bytes);
  }
}

/// The basic estimate of what is flat has one level of bytes, so its patches are equal, and stacks keep the first.
TEST_F(DenoiseEdgesTest, what_is_flat_comes_out_flat_everywhere) {
  for (const PerAxis& size : {PerAxis{90, 70, 1}, PerAxis{26, 25, 24}}) {
    SCOPED_TRACE(text_of(size));
    std::vector<std::uint8_t> voxels;
    for (std::int64_t i = 0; i < size.product(); ++i) {
      IntegerRandom random(5, 0, static_cast<std::uint64_t>(i));
      voxels.push_back(static_cast<std::uint8_t>(100 + (2 * random.normal(4096) + 2048) / 4096));
    }
    const auto out = voxels_of<std::uint8_t>(run(nrrd("uchar", text_of(size), stored_as(voxels)), {.sigma = 2.0}));
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], 100, 1) << "voxel " << i;
  }
}

TEST_F(DenoiseEdgesTest, one_voxel_tells_nothing_of_its_noise) {
  const std::string bytes = nrrd("ushort", "1 1 1", stored_as(std::vector<std::uint16_t>{40321}));
  EXPECT_EQ(run(bytes, {.sigma = 100.0}), bytes) << "the Wiener filter takes a quarter of a level";
  try {
    (void)run(bytes);
    ADD_FAILURE() << "a sigma was estimated of one voxel";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.sentence().find("has 1 voxel, but noise needs at least 2"), std::string::npos) << error.sentence();
  }
}

TEST_F(DenoiseEdgesTest, no_noise_gives_the_bits_back_and_far_too_much_nothing) {
  const PerAxis size{14, 11, 9};
  std::vector<float> voxels = bars<float>(size, 15);
  voxels[1] = -0.0F;
  voxels[2] = std::numeric_limits<float>::denorm_min();
  const std::string bytes = nrrd("float", text_of(size), stored_as(voxels));
  for (const DenoiseProfile profile : {DenoiseProfile::fast, DenoiseProfile::normal, DenoiseProfile::high})
    EXPECT_EQ(run(bytes, {.sigma = 0.0, .profile = profile}), bytes);
  EXPECT_EQ(voxels_of<float>(run(bytes, {.sigma = 1e30})), std::vector<float>(voxels.size(), 0.0F));
}

TEST_F(DenoiseEdgesTest, what_is_no_number_stays_and_is_not_used_for_others) {
  const PerAxis size{20, 18, 12};
  std::vector<float> voxels = bars<float>(size, 15);
  const std::vector<std::size_t> places{0, 777, voxels.size() - 1};
  voxels[places[0]] = std::numeric_limits<float>::quiet_NaN();
  voxels[places[1]] = std::numeric_limits<float>::infinity();
  voxels[places[2]] = -std::numeric_limits<float>::infinity();
  for (const bool is_estimated : {false, true}) {
    DenoiseRequest request;
    if (!is_estimated) request.sigma = 15.0;
    const std::vector<float> out = voxels_of<float>(run(nrrd("float", text_of(size), stored_as(voxels)), request));
    ASSERT_EQ(out.size(), voxels.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (std::isfinite(voxels[i])) {
        EXPECT_LT(std::abs(out[i]), 300) << i;
      } else {
        EXPECT_EQ(stored_as(std::vector<float>{out[i]}), stored_as(std::vector<float>{voxels[i]})) << i;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::tool
