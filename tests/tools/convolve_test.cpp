// `tessera convolve` from file to file: every kind of PNG, results against plain loops, and the same on every device.
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mosaic.h"
#include "png_sample.h"
#include "support/scratch_folder.h"
#include "tools/convolve/convolve.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {
namespace {

using testing_support::PngSample;
using testing_support::Samples;

PngSample sample_of(std::uint32_t width, std::uint32_t height, int color_type, int depth) {
  PngSample sample;
  sample.width = width;
  sample.height = height;
  sample.color_type = color_type;
  sample.depth = depth;
  fill_noise(sample, width * 1000 + height);
  return sample;
}

class ConvolveTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) here.push_back(info.id);
    if (std::find(here.begin(), here.end(), "cpu:0") == here.end()) GTEST_SKIP() << "cpu:0 is not here";
  }

  /// The file that becomes of the sample.
  std::string run(Convolution convolution, const PngSample& sample, const std::string& device = "cpu:0") {
    convolution.input = scratch.write("in.png", encode(sample));
    convolution.output = scratch.path("out.png");
    (void)convolve(convolution, open(device));
    EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.png", "out.png"}));
    return scratch.read("out.png");
  }

  testing_support::ScratchFolder scratch;
  std::vector<std::string> here;
};

/// The place that is seen at `place`; -1 for a zero.
std::int64_t seen(std::int64_t place, std::int64_t size, ImageBorder border) {
  while (border == ImageBorder::mirror && (place < 0 || place >= size))
    place = place < 0 ? -1 - place : 2 * size - 1 - place;
  return place < 0 || place >= size ? -1 : place;
}

/// By plain loops in double, which holds these sums exactly.
std::vector<unsigned> plain(const Convolution& c, const PngSample& sample, double divisor) {
  const Samples in = expanded(sample);
  const std::int64_t height = sample.height;
  const std::int64_t width = sample.width;
  const std::int64_t fh = c.filter.height;
  const std::int64_t fw = c.filter.width;
  const bool valid = c.border == ImageBorder::valid;
  const auto pixel = [&](std::int64_t y, std::int64_t x, int channel) -> unsigned {
    return y < 0 || x < 0 ? 0 : in.numbers.at((y * width + x) * in.channels + channel);
  };
  std::vector<unsigned> out;
  for (std::int64_t y = 0; y < (valid ? height - fh + 1 : height); ++y) {
    for (std::int64_t x = 0; x < (valid ? width - fw + 1 : width); ++x) {
      const std::int64_t top = valid ? y : y - (fh - 1) / 2;
      const std::int64_t left = valid ? x : x - (fw - 1) / 2;
      for (int channel = 0; channel < in.channels; ++channel) {
        if (in.channels % 2 == 0 && channel == in.channels - 1 && !c.convolves_alpha) {
          out.push_back(pixel(top + (fh - 1) / 2, left + (fw - 1) / 2, channel));
          continue;
        }
        double sum = 0;
        for (std::int64_t i = 0; i < fh * fw; ++i) {
          sum += c.filter.weights[i] *
                 pixel(seen(top + i / fw, height, c.border), seen(left + i % fw, width, c.border), channel);
        }
        if (c.takes_absolute.value_or(c.filter.takes_absolute)) sum = std::fabs(sum);
        const double moved = sum / divisor + c.offset + c.offset_share * in.largest;
        out.push_back(static_cast<unsigned>(std::clamp(std::floor(moved + 0.5), 0.0, static_cast<double>(in.largest))));
      }
    }
  }
  return out;
}

TEST_F(ConvolveTest, keeps_the_pixels_of_every_kind_of_png) {
  Convolution identity;
  identity.filter = find_filter("box:1");
  for (const int type : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA,
                         PNG_COLOR_TYPE_PALETTE}) {
    for (const int depth : {1, 2, 4, 8, 16}) {
      if (depth < 8 && type != PNG_COLOR_TYPE_GRAY && type != PNG_COLOR_TYPE_PALETTE) continue;
      if (depth == 16 && type == PNG_COLOR_TYPE_PALETTE) continue;
      for (const int options : {0, 1, 2, 3}) {
        PngSample sample = sample_of(13, 9, type, depth);
        sample.interlaced = (options & 1) != 0;
        sample.transparent = (options & 2) != 0;
        if (sample.transparent && (type & PNG_COLOR_MASK_ALPHA) != 0) continue;
        SCOPED_TRACE(testing::Message() << "colour type " << type << ", depth " << depth << ", options " << options);
        const Samples expected = expanded(sample);
        const PngSample out = testing_support::decode(run(identity, sample));
        EXPECT_EQ(out.channels(), expected.channels);
        EXPECT_EQ(out.depth, depth == 16 ? 16 : 8);
        EXPECT_EQ(expanded(out).numbers, expected.numbers);
      }
    }
  }
}

TEST_F(ConvolveTest, keeps_what_the_file_says_of_its_colours_and_size) {
  Convolution identity;
  identity.filter = find_filter("box:1");
  PngSample sample = sample_of(3, 3, PNG_COLOR_TYPE_RGB, 8);
  sample.described = true;
  EXPECT_TRUE(testing_support::decode(run(identity, sample)).described);
}

struct Job {
  const char* filter;
  double divisor;
  double divide = 0;  ///< --divide
  double offset = 0;
};

TEST_F(ConvolveTest, agrees_with_plain_loops) {
  const Job jobs[] = {{"gaussian:5", 256}, {"box:4", 16},          {"sharpen", 1},          {"laplacian", 1},
                      {"emboss", 3, 3, 7}, {"sobel-x", 4, 4, -20}, {"sobel-y", 0.5, 0.5, 0}};
  for (const Job& job : jobs) {
    for (const ImageBorder border : {ImageBorder::mirror, ImageBorder::same, ImageBorder::valid}) {
      for (const int depth : {8, 16}) {
        for (const int type : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB_ALPHA}) {
          Convolution c;
          c.filter = find_filter(job.filter);
          if (job.divide != 0) c.divisor = job.divide;
          c.offset = job.offset;
          c.border = border;
          c.convolves_alpha = depth == 16;
          SCOPED_TRACE(testing::Message() << job.filter << ", border " << static_cast<int>(border) << ", depth "
                                          << depth << ", colour type " << type);
          const PngSample sample = sample_of(23, 11, type, depth);
          EXPECT_EQ(expanded(testing_support::decode(run(c, sample))).numbers, plain(c, sample, job.divisor));
        }
      }
    }
  }
}

TEST_F(ConvolveTest, is_exact_for_weights_with_decimals_and_for_large_ones) {
  for (const auto& weights : {std::vector<double>{0.125, -0.5, 0.0625, 1.25, 0.375, -0.125},
                              std::vector<double>{1e6, 3e6, -5e5, 8e6, -1e6, 2.5e6}}) {
    for (const int depth : {8, 16}) {
      Convolution c;
      c.filter = {2, 3, weights};
      c.divisor = weights[0] > 1 ? 1e7 : 1.5;
      const PngSample sample = sample_of(17, 19, PNG_COLOR_TYPE_GRAY, depth);
      EXPECT_EQ(expanded(testing_support::decode(run(c, sample))).numbers, plain(c, sample, *c.divisor)) << depth;
    }
  }
}

TEST_F(ConvolveTest, of_any_size_in_bands_of_any_size) {
  for (const char* filter : {"gaussian:7", "box:6", "gaussian:63"}) {
    for (const auto& [width, height] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 1}, {1, 40}, {30, 1}, {5, 13}, {3, 200}}) {
      for (const ImageBorder border : {ImageBorder::mirror, ImageBorder::same}) {
        Convolution c;
        c.filter = find_filter(filter);
        c.border = border;
        c.band_bytes = 1;  // as few rows a band as there can be
        SCOPED_TRACE(testing::Message() << filter << " " << width << " x " << height);
        const PngSample sample = sample_of(width, height, PNG_COLOR_TYPE_GRAY_ALPHA, 8);
        EXPECT_EQ(expanded(testing_support::decode(run(c, sample))).numbers, plain(c, sample, c.filter.sum()));
      }
    }
  }
}

TEST_F(ConvolveTest, turns_the_filter_for_a_convolution) {
  PngSample dot = sample_of(5, 5, PNG_COLOR_TYPE_GRAY, 8);
  std::fill(dot.bytes.begin(), dot.bytes.end(), std::uint8_t{0});
  dot.bytes[2 * 5 + 2] = 1;
  Convolution c;
  c.filter = {2, 3, {1, 2, 3, 4, 5, 6}};
  c.flip = true;
  const PngSample out = testing_support::decode(run(c, dot));
  // A dot becomes the filter itself, its centre, the 2, on the dot.
  EXPECT_EQ(out.sample(2, 1, 0), 1U);
  EXPECT_EQ(out.sample(2, 2, 0), 2U);
  EXPECT_EQ(out.sample(3, 3, 0), 6U);
}

TEST_F(ConvolveTest, is_the_same_on_every_device) {
  const PngSample sample = sample_of(61, 47, PNG_COLOR_TYPE_RGB, 16);
  for (const char* filter : {"gaussian:5", "laplacian"}) {
    Convolution c;
    c.filter = find_filter(filter);
    const std::string first = run(c, sample);
    for (const std::string& device : here) EXPECT_EQ(run(c, sample, device), first) << device << " " << filter;
  }
}

TEST_F(ConvolveTest, refuses_what_cannot_be) {
  const PngSample sample = sample_of(4, 4, PNG_COLOR_TYPE_GRAY, 8);
  Convolution c;
  c.filter = find_filter("box:5");
  c.border = ImageBorder::valid;
  EXPECT_THROW(run(c, sample), Error);
  c.filter = find_filter("sobel-x");
  c.divides_by_sum = true;
  EXPECT_THROW(run(c, sample), UsageError);
  c.divides_by_sum = false;
  c.kernel.variant = "no_such_variant";
  EXPECT_THROW(run(c, sample), UsageError);
  EXPECT_EQ(scratch.names(), std::set<std::string>{"in.png"});
}

TEST_F(ConvolveTest, made_the_pictures_of_the_document) {
  const std::string folder = TESSERA_PICTURES_PATH;
  const auto pixels_of = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return testing_support::decode({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}).bytes;
  };
  EXPECT_TRUE(pixels_of(folder + "/mosaic.png") == testing_support::draw_mosaic());
  Convolution c;
  c.input = folder + "/mosaic.png";
  c.output = scratch.path("out.png");
  c.filter = find_filter("gaussian:9");
  (void)convolve(c, open("cpu:0"));
  EXPECT_TRUE(pixels_of(folder + "/mosaic_gaussian.png") == pixels_of(c.output));
  c.filter = find_filter("sobel-y");
  c.takes_absolute = false;
  c.divisor = 4;
  c.offset_share = 0.5;
  (void)convolve(c, open("cpu:0"));
  EXPECT_TRUE(pixels_of(folder + "/mosaic_relief.png") == pixels_of(c.output));
}

}  // namespace
}  // namespace tessera::tool
