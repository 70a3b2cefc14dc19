// `tessera denoise` on files: every type, what is carried over, volumes in a row, scales, images, and refusals.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "png_sample.h"
#include "support/scratch_folder.h"
#include "table_sample.h"
#include "tools/denoise/denoise.h"
#include "tools/denoise/filter_voxels.h"
#include "tools/process/usage_error.h"
#include "tools/random/integer_random.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

/// 12 x 10 x 8 voxels around `middle`, in two halves, with noise of `sigma`.
template <class T>
std::vector<T> noisy(double middle, double sigma, std::uint64_t seed = 1) {
  std::vector<T> voxels;
  for (std::uint64_t i = 0; i < 12 * 10 * 8; ++i) {
    IntegerRandom random(seed, 0, i);
    const double noise = sigma * static_cast<double>(random.normal(4096)) / 4096;
    voxels.push_back(static_cast<T>(std::floor(middle + (i % 12 < 6 ? -20 : 20) + noise + 0.5)));
  }
  return voxels;
}

class DenoiseTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) {
      if (info.id == "cpu:0") return;
    }
    GTEST_SKIP() << "cpu:0 is not here";
  }

  /// The file that a file with these bytes becomes.
  std::string run(const std::string& bytes, DenoiseRequest request = {}) {
    request.input = scratch.write("in", bytes);
    request.output = scratch.path("out");
    report = denoise_file(request, open("cpu:0"));
    return scratch.read("out");
  }
  std::string refusal(const std::string& bytes) {
    try {
      (void)run(bytes, {.sigma = 5});
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(scratch.names(), std::set<std::string>{"in"});
      return error.sentence();
    }
  }
  template <class T>
  static std::string nrrd_of(const std::string& type, const std::vector<T>& voxels, bool high_first = false) {
    return nrrd(type, "12 10 8", stored_as(voxels, high_first),
                std::string("encoding: raw\nendian: ") + (high_first ? "big\n" : "little\n"));
  }

  ScratchFolder scratch;
  DenoiseReport report;
};

TEST_F(DenoiseTest, without_noise_to_remove_a_file_stays_as_it_is) {
  const DenoiseRequest none{.sigma = 0};
  for (const bool high_first : {false, true}) {
    for (const std::string& bytes :
         {nrrd_of("int8", noisy<std::int8_t>(3, 9), high_first), nrrd_of("uint8", noisy<std::uint8_t>(90, 9)),
          nrrd_of("int16", noisy<std::int16_t>(-900, 300), high_first),
          nrrd_of("uint16", noisy<std::uint16_t>(30000, 900), high_first),
          nrrd_of("int32", noisy<std::int32_t>(-2e9, 900), high_first),
          nrrd_of("uint32", noisy<std::uint32_t>(4e9, 900), high_first),
          nrrd_of("int64", noisy<std::int64_t>(-9e15, 900), high_first),
          nrrd_of("uint64", noisy<std::uint64_t>(9e15, 900), high_first),
          nrrd_of("float", noisy<float>(1e9, 3e8), high_first), nrrd_of("double", noisy<double>(5, 9), high_first)}) {
      EXPECT_EQ(run(bytes, none), bytes) << bytes.substr(0, 60);
    }
  }
}

TEST_F(DenoiseTest, ends_of_large_types_stay_in_them) {
  const auto ends = [](auto number) {
    using T = decltype(number);
    std::vector<T> voxels(960, std::numeric_limits<T>::max());
    voxels[7] = static_cast<T>(std::numeric_limits<T>::max() - 65535);
    return voxels;
  };
  for (const std::string& bytes : {nrrd_of("int64", ends(std::int64_t{})), nrrd_of("uint64", ends(std::uint64_t{})),
                                   nrrd_of("int32", ends(std::int32_t{}))}) {
    EXPECT_EQ(run(bytes, {.sigma = 0}), bytes);
  }
  std::vector<std::int64_t> least(960, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(run(nrrd_of("int64", least), {.sigma = 9}), nrrd_of("int64", least));
}

TEST_F(DenoiseTest, whole_numbers_of_every_type_are_denoised_alike) {
  const auto denoised = [&](const std::string& type, const auto& voxels) {
    using T = typename std::decay_t<decltype(voxels)>::value_type;
    return numbers_of<T>(read_volume(run(nrrd_of(type, voxels, true), {.sigma = 10})));
  };
  // As 16 bits without a sign that are an offset away from them.
  const auto expect_alike = [&](const std::string& type, const auto& voxels, const auto& clean) {
    const FilterVoxels moved = to_filter(voxels, "");
    const auto expected = denoised("uint16", std::get<std::vector<std::uint16_t>>(moved.numbers));
    const auto found = denoised(type, voxels);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(static_cast<std::uint64_t>(found[i]) - moved.offset, expected[i]) << type << ", " << i;
    EXPECT_LT(mean_square(found, clean), 25) << type << ", of noise whose square is 100";
  };
  expect_alike("uint16", noisy<std::uint16_t>(2000, 10), noisy<std::uint16_t>(2000, 0));
  expect_alike("int16", noisy<std::int16_t>(-1000, 10), noisy<std::int16_t>(-1000, 0));
  expect_alike("int32", noisy<std::int32_t>(2e9, 10), noisy<std::int32_t>(2e9, 0));
  expect_alike("uint32", noisy<std::uint32_t>(2000, 10), noisy<std::uint32_t>(2000, 0));
  // Beyond 2^53 the sample's noise would be rounded.
  expect_alike("int64", noisy<std::int64_t>(-9e15, 10), noisy<std::int64_t>(-9e15, 0));
}

TEST_F(DenoiseTest, float64_is_computed_in_float32) {
  const std::string single = run(nrrd_of("float", noisy<float>(100, 10)), {.sigma = 10, .range = 255.0});
  const std::string doubled = run(nrrd_of("double", noisy<double>(100, 10)), {.sigma = 10, .range = 255.0});
  const auto floats = numbers_of<float>(read_volume(single));
  const auto doubles = numbers_of<double>(read_volume(doubled));
  EXPECT_EQ(std::vector<float>(doubles.begin(), doubles.end()), floats);
}

TEST_F(DenoiseTest, what_stands_around_the_voxels_is_kept_byte_for_byte) {
  const std::vector<std::int16_t> voxels = noisy<std::int16_t>(-500, 30);
  const std::string data = stored_as(voxels, true);
  const std::string dicom = "<dicom-key>\x1b[31m</dicom-key>    ";
  for (const std::string& bytes : {nrrd_of("short", voxels, true), npy(">i2", "(8, 10, 12)", data),
                                   npy_with("{'descr': '>i2', 'fortran_order': True, 'shape': (12, 10, 8), }", data),
                                   NiftiSample(4, 16, {12, 10, 8}, true, dicom).with(data)}) {
    const std::string out = run(bytes, {.sigma = 30});
    ASSERT_EQ(out.size(), bytes.size());
    EXPECT_EQ(out.substr(0, out.size() - data.size()), bytes.substr(0, bytes.size() - data.size()));
    EXPECT_NE(out, bytes);
  }
  const std::string head = nrrd_head("short", "12 10 8", "endian: big\nencoding: gz\n");
  const std::string out = run(head + gzip(data), {.sigma = 30});
  EXPECT_EQ(out.substr(0, head.size()), head);
  EXPECT_EQ(read_volume(out).volumes, read_volume(run(nrrd_of("short", voxels, true), {.sigma = 30})).volumes);
}

TEST_F(DenoiseTest, volumes_in_a_row_are_denoised_each_by_itself) {
  const auto one = noisy<std::uint8_t>(90, 10), other = noisy<std::uint8_t>(140, 20, 2);
  const std::string both = run(nrrd("uchar", "12 10 8 2", stored_as(one) + stored_as(other)));
  EXPECT_GT(report.most_sigma, report.least_sigma);
  const std::string first = run(nrrd("uchar", "12 10 8", stored_as(one)));
  const std::string second = run(nrrd("uchar", "12 10 8", stored_as(other)));
  EXPECT_EQ(both.substr(both.size() - 1920), first.substr(first.size() - 960) + second.substr(second.size() - 960));
}

TEST_F(DenoiseTest, sigma_and_range_are_in_the_units_of_scaled_numbers) {
  NiftiSample sample(4, 16, {12, 10, 8}, false);
  const std::string data = stored_as(noisy<std::int16_t>(500, 10));
  (void)run(sample.with(data));
  const double estimated = report.least_sigma;
  EXPECT_NEAR(estimated, 10, 4);
  const std::string plain = run(sample.with(data), {.sigma = 10, .range = 40.0});
  sample.set(112, -0.25F).set(116, 7.0F);
  const std::string scaled = run(sample.with(data), {.sigma = 2.5, .range = 10.0});
  EXPECT_EQ(scaled.substr(352), plain.substr(352));
  EXPECT_EQ(report.least_sigma, 2.5);
  (void)run(sample.with(data));
  EXPECT_EQ(report.least_sigma, estimated / 4);
}

TEST_F(DenoiseTest, the_range_leaves_outliers_out) {
  std::vector<float> voxels(5000, 0);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i) / 5000;
  voxels[10] = 1e30F;
  voxels[11] = std::numeric_limits<float>::quiet_NaN();
  voxels[12] = -std::numeric_limits<float>::infinity();
  EXPECT_NEAR(usual_range(to_filter(voxels, "")), 1, 0.01);
  EXPECT_EQ(usual_range(to_filter(std::vector<std::uint8_t>{3, 4}, "")), 255);
  EXPECT_EQ(usual_range(to_filter(std::vector<std::int16_t>{-1000, 0, 3000}, "")), 4000);
  EXPECT_EQ(usual_range(to_filter(std::vector<float>{NAN}, "")), 0);
}

TEST_F(DenoiseTest, images_keep_their_alpha_and_their_depth) {
  for (const int depth : {8, 16}) {
    for (const int color_type : {0, 2, 4, 6}) {  // grey, colour, and both with alpha
      PngSample sample;
      sample.width = 40;
      sample.height = 30;
      sample.depth = depth;
      sample.color_type = color_type;
      sample.described = true;
      fill_noise(sample, 9);
      const PngSample out = decode(run(encode(sample), {.sigma = 20.0 * (depth == 16 ? 257 : 1)}));
      SCOPED_TRACE(testing::Message() << depth << " bits, type " << color_type);
      EXPECT_EQ(out.depth, depth);
      EXPECT_EQ(out.color_type, color_type);
      EXPECT_TRUE(out.described);
      EXPECT_NE(out.bytes, sample.bytes);
      const bool has_alpha = color_type >= 4;
      for (std::uint32_t y = 0; has_alpha && y < 30; ++y) {
        for (std::uint32_t x = 0; x < 40; ++x) {
          ASSERT_EQ(out.sample(y, x, out.channels() - 1), sample.sample(y, x, out.channels() - 1));
        }
      }
      EXPECT_EQ(decode(run(encode(sample), {.sigma = 0})).bytes, sample.bytes);
    }
  }
}

TEST_F(DenoiseTest, colours_are_those_of_the_operator) {
  PngSample sample;
  sample.width = 33;
  sample.height = 21;
  sample.color_type = 2;
  fill_noise(sample, 4);
  const PngSample out = decode(run(encode(sample), {.sigma = 40}));
  const Device device = open("cpu:0");
  std::vector<std::uint8_t> planes;
  for (int channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < 33 * 21; ++i) planes.push_back(sample.bytes[3 * i + static_cast<std::size_t>(channel)]);
  }
  const auto kernel = device.kernel(Denoise{.size = {33, 21, 1}, .channels = 3, .sigma = 40, .type = DataType::uint8});
  const auto volume = device.upload<std::uint8_t>(planes);
  const auto result = device.allocate<std::uint8_t>(planes.size());
  Queue queue(device);
  queue.run(kernel, {.volume = volume, .basic = {}, .result = result});
  const std::vector<std::uint8_t> expected = queue.download(result).get();
  for (std::uint32_t i = 0; i < 33 * 21; ++i) {
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(out.sample(i / 33, i % 33, c), expected[static_cast<std::size_t>(c) * 33 * 21 + i]);
    }
  }
}

TEST_F(DenoiseTest, is_the_same_on_every_device) {
  const std::string input = scratch.write("in", nrrd_of("short", noisy<std::int16_t>(-500, 30)));
  const std::string floats = scratch.write("floats", nrrd_of("float", noisy<float>(0, 30)));
  for (const std::string& path : {input, floats}) {
    std::string first;
    for (const DeviceInfo& info : devices()) {
      DenoiseRequest request{.input = path, .output = scratch.path("out"), .profile = DenoiseProfile::fast};
      (void)denoise_file(request, open(info.id));
      if (first.empty()) first = scratch.read("out");
      EXPECT_EQ(scratch.read("out"), first) << info.id;
    }
  }
}

TEST_F(DenoiseTest, refuses_what_cannot_be) {
  std::vector<std::int32_t> wide(960, 0);
  wide[3] = 65536;
  EXPECT_NE(refusal(nrrd_of("int32", wide)).find("holds int32 from 0 to 65536, but whole numbers of more than 16 bits"),
            std::string::npos);
  std::vector<double> large(960, 1e300);
  EXPECT_NE(refusal(nrrd_of("double", large)).find("holds 1e+300 as voxel 0, but float64 is denoised as float32"),
            std::string::npos);
  EXPECT_NE(refusal("no volume").find("is neither PNG"), std::string::npos);
  const std::string bytes = nrrd_of("uint8", noisy<std::uint8_t>(90, 9));
  EXPECT_THROW(run(bytes, {.plan = {.kernel = {.variant = "no_such_variant"}}}), UsageError);
  EXPECT_THROW(run(bytes, {.plan = {.kernel = {.tuning = {{"no_such", 1}}}}}), UsageError);
  EXPECT_EQ(scratch.names(), std::set<std::string>{"in"});
}

TEST_F(DenoiseTest, places_that_cannot_be_written_are_told_before_anything_is_read) {
  const std::string input = scratch.write("in", nrrd_of("uint8", noisy<std::uint8_t>(90, 9)));
  const auto refusal_to = [&](const std::string& output) -> std::string {
    try {
      (void)denoise_file({.input = input, .output = output, .sigma = 5.0}, open("cpu:0"));
      return "";
    } catch (const Error& error) {
      return error.sentence();
    }
  };
  EXPECT_EQ(refusal_to(scratch.path("no/such")),
            "the file '" + scratch.path("no/such") + "' cannot be written: No such file or directory");
  EXPECT_EQ(refusal_to(scratch.path("")), "the file '" + scratch.path("") + "' cannot be written: it is a folder");
  EXPECT_EQ(refusal_to("/dev/full"), "the file '/dev/full' cannot be written: No space left on device");
  EXPECT_NE(refusal_to(input).find("--force allows it"), std::string::npos);
  if (::geteuid() != 0) {  // root may write everything
    ::chmod(scratch.path("").c_str(), 0555);
    EXPECT_EQ(refusal_to(scratch.path("out")),
              "the file '" + scratch.path("out") + "' cannot be written: Permission denied");
    ::chmod(scratch.path("").c_str(), 0755);
  }
  EXPECT_EQ(scratch.names(), std::set<std::string>{"in"});
  (void)denoise_file({.input = input, .output = input, .sigma = 5.0, .replaces_input = true}, open("cpu:0"));
  EXPECT_NE(scratch.read("in"), nrrd_of("uint8", noisy<std::uint8_t>(90, 9)));
}

}  // namespace
}  // namespace tessera::tool
