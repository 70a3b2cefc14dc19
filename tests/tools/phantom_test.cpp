// The phantom's voxels and noise, planes as pixels, and how far two volumes are apart, against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tools/phantom/shepp_logan.h"
#include "tools/psnr/likeness.h"
#include "tools/random/integer_random.h"
#include "tools/slice/slice.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

TEST(PhantomTest, shows_bone_brain_and_ventricles) {
  const PerAxis size{201, 201, 101};
  const std::vector<double> middle = phantom_plane(size, 50);
  const auto at = [&](double x, double y) {
    const auto column = static_cast<std::size_t>(std::floor((x + 1) / 2 * 201));
    const auto row = static_cast<std::size_t>(std::floor((1 - y) / 2 * 201));  // up is positive
    return middle[row * 201 + column];
  };
  EXPECT_EQ(at(-0.99, -0.99), 0);
  EXPECT_NEAR(at(0, 0), 51, 1e-9);
  EXPECT_EQ(at(0, 0.9), 255) << "bone";
  EXPECT_EQ(at(0.675, 0), 255);
  EXPECT_EQ(at(0.22, 0), 0) << "a ventricle";
  EXPECT_EQ(at(-0.22, 0), 0);
  EXPECT_EQ(at(-0.36, 0.35), 0) << "which leans to the left";
  EXPECT_NEAR(at(0.36, 0.1), 51, 1e-9);
  EXPECT_NEAR(at(0, 0.35), 76.5, 1e-9);
  EXPECT_NEAR(at(0.06, -0.605), 76.5, 1e-9);
  for (const double voxel : phantom_plane(size, 0)) EXPECT_EQ(voxel, 0);
}

TEST(PhantomTest, noise_is_white_and_normal_and_the_same_everywhere) {
  constexpr int kCount = 200'000;
  double sum = 0, squares = 0, neighbours = 0, beyond = 0, before = 0;
  for (int i = 0; i < kCount; ++i) {
    const double noise = phantom_noise(1, static_cast<std::uint64_t>(i), 25);
    sum += noise;
    squares += noise * noise;
    neighbours += noise * before;
    beyond += std::abs(noise) > 50 ? 1 : 0;
    before = noise;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.25);
  EXPECT_NEAR(std::sqrt(squares / kCount), 25, 0.2);
  EXPECT_NEAR(neighbours / squares, 0, 0.01);
  EXPECT_NEAR(beyond / kCount, 0.0455, 0.003) << "of a normal distribution 4.55 % are beyond two deviations";
  EXPECT_EQ(phantom_noise(1, 0, 25), 25.0 * 65536 * phantom_noise(1, 0, 1) / 65536);
  EXPECT_NE(phantom_noise(2, 0, 25), phantom_noise(1, 0, 25));
  // FNV-1a over a small volume with its noise in 1/65536.
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::uint64_t voxel = 0;
  for (std::int64_t z = 0; z < 16; ++z) {
    for (const double clean : phantom_plane({16, 16, 16}, z)) {
      const auto number = static_cast<std::int64_t>(std::floor((clean + phantom_noise(7, voxel++, 25)) * 65536));
      hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x100000001b3U;
    }
  }
  EXPECT_EQ(hash, 981348791922942352U) << "another machine would make another volume";
}

TEST(SliceTest, planes_of_each_axis) {
  const VolumeHead head{.format = "", .type = DataType::uint8, .size = {2, 3, 4}};
  std::vector<std::uint8_t> numbers;
  for (int i = 0; i < 24; ++i) numbers.push_back(static_cast<std::uint8_t>(i));
  const auto pixels = [&](SliceAxis axis, std::int64_t at) {
    return slice_of(head, numbers, axis, at, {0, 255}).pixels;
  };
  EXPECT_EQ(pixels(SliceAxis::z, 1), (std::vector<std::uint8_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(pixels(SliceAxis::y, 2), (std::vector<std::uint8_t>{4, 5, 10, 11, 16, 17, 22, 23}));
  EXPECT_EQ(pixels(SliceAxis::x, 1), (std::vector<std::uint8_t>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));
  EXPECT_EQ(slice_of(head, numbers, SliceAxis::x, 0, {0, 255}).width, 3);
  EXPECT_EQ(slice_of(head, numbers, SliceAxis::x, 0, {0, 255}).height, 4);
}

TEST(SliceTest, windows_are_in_what_numbers_stand_for) {
  VolumeHead head{.format = "", .type = DataType::int16, .size = {5, 1, 1}};
  const Voxels voxels = std::vector<std::int16_t>{-100, 0, 50, 100, 300};
  EXPECT_EQ(usual_window(head, voxels), SliceWindow(-100, 300));
  EXPECT_EQ(slice_of(head, voxels, SliceAxis::z, 0, {0, 100}).pixels, (std::vector<std::uint8_t>{0, 0, 128, 255, 255}));
  head.slope = -2;
  head.intercept = 10;
  EXPECT_EQ(usual_window(head, voxels), SliceWindow(-590, 210));
  EXPECT_EQ(slice_of(head, voxels, SliceAxis::z, 0, {-190, 210}).pixels,
            (std::vector<std::uint8_t>{255, 128, 64, 0, 0}));
  const VolumeHead floats{.format = "", .type = DataType::float32, .size = {3, 1, 1}};
  const Voxels odd = std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 3, 3};
  EXPECT_EQ(usual_window(floats, odd), SliceWindow(3, 3));
  EXPECT_EQ(slice_of(floats, odd, SliceAxis::z, 0, {3, 3}).pixels, (std::vector<std::uint8_t>{0, 0, 0}));
}

class LikenessTest : public testing::Test {
 protected:
  static Likeness between(const std::string& one, const std::string& other, double peak = 0) {
    const MemoryFile a(one), b(other);
    const auto file = open_volume(a.path()), other_file = open_volume(b.path());
    return likeness_of(*file, *other_file, peak);
  }
};

TEST_F(LikenessTest, psnr_is_that_of_its_formula) {
  const std::string one = nrrd("uchar", "2 2 1", "\x0a\x14\x1e\x28"),
                    other = nrrd("uchar", "2 2 1", "\x0a\x17\x1e\x27");
  const Likeness likeness = between(one, other);
  EXPECT_EQ(likeness.peak, 255);
  EXPECT_DOUBLE_EQ(likeness.psnr_db, 10 * std::log10(255 * 255 / (10.0 / 4)));
  EXPECT_EQ(likeness.difference, 3);
  EXPECT_EQ(likeness.x, 1);
  EXPECT_EQ(likeness.y, 0);
  EXPECT_EQ(between(one, other, 3).peak, 3);
  EXPECT_TRUE(std::isinf(between(one, one).psnr_db));
  const std::string floats = nrrd("float", "2 2 1", stored_as<float>({10, 20, 30, 40}));
  EXPECT_EQ(between(floats, other).peak, 30);
  EXPECT_EQ(between(floats, other).difference, 3);
  EXPECT_THROW((void)between(nrrd("float", "1", stored_as<float>({10})), nrrd("uchar", "1", "a")), Error);
}

TEST_F(LikenessTest, scales_and_volumes_count) {
  NiftiSample scaled(4, 16, {4, 1, 1, 2}, true);
  scaled.set(112, 0.5F).set(116, -1.0F);
  const std::string one = scaled.with(stored_as<std::int16_t>({2, 4, 6, 8, 10, 12, 14, 16}, true));
  const std::string same = nrrd("double", "4 1 1 2", stored_as<double>({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(between(one, same).difference, 0);
  const std::string other = nrrd("double", "4 1 1 2", stored_as<double>({0, 1, 2, 3, 4, 5.5, 6, 7}));
  EXPECT_EQ(between(one, other).difference, 0.5);
  EXPECT_EQ(between(one, other).frame, 1);
  EXPECT_EQ(between(one, other).x, 1);
}

TEST_F(LikenessTest, what_is_not_finite_is_left_out) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const Likeness likeness = between(nrrd("float", "4", stored_as<float>({1, nan, 3, 4})),
                                    nrrd("float", "4", stored_as<float>({1, 2, infinite, 5})));
  EXPECT_EQ(likeness.left_out, 2);
  EXPECT_EQ(likeness.difference, 1);
  EXPECT_TRUE(std::isnan(likeness.ssim));
}

/// By its definition, window by window.
double plain_similarity(const std::vector<double>& a, const std::vector<double>& b, const PerAxis& size, double peak) {
  const auto window = [](std::int64_t voxels) {
    const std::int64_t length = voxels < 11 ? voxels : 11;
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const double away = static_cast<double>(i) - static_cast<double>(length - 1) / 2;
      weights.push_back(std::exp(-away * away / (2 * 1.5 * 1.5)));
      sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  };
  const std::vector<double> wx = window(size.x), wy = window(size.y), wz = window(size.z);
  const auto count = [](const std::vector<double>& w, std::int64_t voxels) {
    return voxels - static_cast<std::int64_t>(w.size()) + 1;
  };
  double sum = 0;
  int windows = 0;
  for (std::int64_t z = 0; z < count(wz, size.z); ++z) {
    for (std::int64_t y = 0; y < count(wy, size.y); ++y) {
      for (std::int64_t x = 0; x < count(wx, size.x); ++x) {
        double ma = 0, mb = 0, va = 0, vb = 0, vab = 0;
        for (const bool is_second : {false, true}) {
          for (std::size_t k = 0; k < wz.size(); ++k) {
            for (std::size_t j = 0; j < wy.size(); ++j) {
              for (std::size_t i = 0; i < wx.size(); ++i) {
                const auto at = static_cast<std::size_t>(z * size.x * size.y + y * size.x + x) +
                                k * static_cast<std::size_t>(size.x * size.y) + j * static_cast<std::size_t>(size.x) +
                                i;
                const double w = wx[i] * wy[j] * wz[k];
                if (!is_second) {
                  ma += w * a[at];
                  mb += w * b[at];
                } else {
                  va += w * (a[at] - ma) * (a[at] - ma);
                  vb += w * (b[at] - mb) * (b[at] - mb);
                  vab += w * (a[at] - ma) * (b[at] - mb);
                }
              }
            }
          }
        }
        const double c1 = 0.0001 * peak * peak, c2 = 0.0009 * peak * peak;
        sum += (2 * ma * mb + c1) * (2 * vab + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
        ++windows;
      }
    }
  }
  return sum / windows;
}

TEST_F(LikenessTest, ssim_is_that_of_its_definition) {
  for (const PerAxis& size : {PerAxis{17, 13, 1}, PerAxis{14, 12, 13}, PerAxis{4, 30, 2}, PerAxis{1, 1, 1}}) {
    std::vector<double> one, other;
    for (std::int64_t i = 0; i < size.product(); ++i) {
      IntegerRandom random(1, 2, static_cast<std::uint64_t>(i));
      one.push_back(static_cast<double>((i % size.x) * 9 + random.below(20)));
      other.push_back(one.back() + static_cast<double>(random.normal(15)));
    }
    const auto planes = [&size](const std::vector<double>& from) {
      return [&](std::int64_t z, std::span<double> plane) {
        const auto first = from.begin() + z * size.x * size.y;
        std::copy(first, first + size.x * size.y, plane.begin());
      };
    };
    const double ssim = structural_similarity(planes(one), planes(other), size, 255);
    EXPECT_NEAR(ssim, plain_similarity(one, other, size, 255), 1e-9);
    EXPECT_LT(ssim, 1);
    EXPECT_DOUBLE_EQ(structural_similarity(planes(one), planes(one), size, 255), 1);
  }
}

}  // namespace
}  // namespace tessera::tool
