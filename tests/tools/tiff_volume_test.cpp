// TIFF files as volumes: of every type, compression and layout; what they say of themselves stays; and hostile ones.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "support/scratch_folder.h"
#include "tiff_sample.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

class TiffVolumeTest : public testing::Test {
 protected:
  static void fill(TiffSample& sample) {
    std::minstd_rand random(5);
    sample.bytes.resize(sample.page_bytes() * sample.pages);
    for (char& byte : sample.bytes) byte = static_cast<char>(random() >> 12 & 0x3f);  // no NaN
  }
  std::string bytes_of(const TiffSample& sample) {
    write_tiff(sample, scratch.path("in.tif"));
    return scratch.read("in.tif");
  }
  /// Reads in.tif and writes out.tif with the same voxels.
  void write_anew() {
    const auto file = open_volume(scratch.path("in.tif"));
    const auto writer = file->writer(scratch.path("out.tif"));
    for (std::int64_t frame = 0; frame < file->head().frames; ++frame) writer->write(file->read());
    writer->finish();
  }
  std::string refusal(const TiffSample& sample) { return volume_refusal(bytes_of(sample)); }

  ScratchFolder scratch;
};

TEST_F(TiffVolumeTest, pages_are_planes) {
  TiffSample sample;
  fill(sample);
  const VolumeRead read = read_volume(bytes_of(sample));
  EXPECT_EQ(read.head.format, "TIFF");
  EXPECT_EQ(read.head.size, (PerAxis{5, 4, 3}));
  const auto numbers = numbers_of<std::uint8_t>(read);
  EXPECT_EQ(std::string(numbers.begin(), numbers.end()), sample.bytes);
}

TEST_F(TiffVolumeTest, every_type_layout_and_compression_is_written_anew_as_it_was) {
  constexpr std::uint16_t kOfIntegers = 2, kOfFloats = 3;
  int count = 0;
  for (const auto format :
       std::initializer_list<std::uint16_t>{SAMPLEFORMAT_UINT, SAMPLEFORMAT_INT, SAMPLEFORMAT_IEEEFP}) {
    for (const auto bits : std::initializer_list<std::uint16_t>{8, 16, 32, 64}) {
      if (format == SAMPLEFORMAT_IEEEFP && bits < 32) continue;
      for (const auto compression : std::initializer_list<std::uint16_t>{
               COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
        for (int layout = 0; layout < 8; ++layout) {
          TiffSample sample;
          sample.format = format;
          sample.bits = bits;
          sample.compression = compression;
          sample.is_described = true;
          if ((layout & 1) != 0) {
            sample.channels = 3;
            sample.photometric = PHOTOMETRIC_RGB;
            sample.has_planes = (layout & 2) != 0;
          }
          if ((layout & 4) != 0) sample.mode = (layout & 1) != 0 ? "wb8" : "wb";
          const bool can_predict = compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE;
          if (can_predict && layout == 0) sample.predictor = format == SAMPLEFORMAT_IEEEFP ? kOfFloats : kOfIntegers;
          fill(sample);
          SCOPED_TRACE(testing::Message() << "format " << format << " bits " << bits << " compression " << compression
                                          << " layout " << layout);
          write_tiff(sample, scratch.path("in.tif"));
          write_anew();
          const TiffContent before = read_tiff(scratch.path("in.tif")), after = read_tiff(scratch.path("out.tif"));
          EXPECT_EQ(before.bytes, sample.bytes);
          EXPECT_EQ(after.bytes, before.bytes);
          EXPECT_EQ(after.tags, before.tags);
          EXPECT_EQ(scratch.read("out.tif").substr(0, 4), scratch.read("in.tif").substr(0, 4));
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(count, 10 * 4 * 8);
}

TEST_F(TiffVolumeTest, tiles_are_read) {
  for (const bool has_planes : {false, true}) {
    TiffSample sample;
    sample.width = 37;
    sample.height = 19;
    sample.channels = 3;
    sample.bits = 16;
    sample.photometric = PHOTOMETRIC_RGB;
    sample.has_planes = has_planes;
    sample.compression = COMPRESSION_LZW;
    sample.tile = 16;
    fill(sample);
    write_tiff(sample, scratch.path("in.tif"));
    write_anew();
    EXPECT_EQ(read_tiff(scratch.path("out.tif")).bytes, sample.bytes);
  }
}

TEST_F(TiffVolumeTest, descriptions_tell_volumes) {
  TiffSample sample;
  sample.pages = 6;
  fill(sample);
  sample.description = "ImageJ=1.54f\nimages=6\nslices=3\nframes=2\nhyperstack=true\n";
  const VolumeRead read = read_volume(bytes_of(sample));
  EXPECT_EQ(read.head.size.z, 3) << read.refusal;
  EXPECT_EQ(read.head.frames, 2);
  const auto numbers = numbers_of<std::uint8_t>(read, 1);
  EXPECT_EQ(std::string(numbers.begin(), numbers.end()), sample.bytes.substr(60));
  write_anew();
  EXPECT_EQ(read_tiff(scratch.path("out.tif")).bytes, sample.bytes);
  sample.description = "ImageJ=1.54f\nimages=6\nchannels=2\nslices=3\n";
  EXPECT_NE(refusal(sample).find("says in its description that it holds 2 channels"), std::string::npos);
  sample.description = "ImageJ=1.54f\nimages=900\nslices=900\n";
  EXPECT_NE(refusal(sample).find("holds 900 images, but has 6 pages"), std::string::npos);
  sample.description = R"(<?xml?><OME><Pixels SizeC="1" SizeT="3" SizeZ="2"/></OME>)";
  EXPECT_NE(refusal(sample).find("3 points of time"), std::string::npos);
}

TEST_F(TiffVolumeTest, a_new_file_is_read_again) {
  const std::vector<std::uint16_t> numbers{1, 2, 3, 4, 5, 60000};
  const auto writer = create_volume(scratch.path("new.tif"), DataType::uint16, {3, 1, 2});
  writer->write(numbers);
  writer->finish();
  const VolumeRead read = read_volume(scratch.read("new.tif"));
  EXPECT_EQ(read.head.size, (PerAxis{3, 1, 2}));
  EXPECT_EQ(numbers_of<std::uint16_t>(read), numbers);
}

TEST_F(TiffVolumeTest, other_kinds_are_refused) {
  const auto with = [this](auto change) {
    TiffSample sample;
    change(sample);
    fill(sample);
    return refusal(sample);
  };
  EXPECT_EQ(with([](TiffSample& s) { s.channels = 2; }),
            "has a page 1 that has 2 samples a pixel, but must have 1, or 3 for red, green and blue");
  EXPECT_NE(with([](TiffSample& s) { s.photometric = PHOTOMETRIC_MASK; }).find("TIFF's kind 4"), std::string::npos);
  EXPECT_NE(
      with([](TiffSample& s) { s.format = SAMPLEFORMAT_COMPLEXIEEEFP, s.bits = 64; }).find("64 bits and format 6"),
      std::string::npos);
  const std::string jpeg = with([](TiffSample& s) {
    s.compression = COMPRESSION_JPEG;
    s.width = s.height = s.rows_per_strip = 16;
  });
  EXPECT_NE(jpeg.find("compressed by TIFF's method 7"), std::string::npos) << jpeg;
  TiffSample large, small;
  fill(large);
  small.height = 2;
  fill(small);
  write_tiff(large, scratch.path("in.tif"));
  small.mode = "al";
  write_tiff(small, scratch.path("in.tif"));
  EXPECT_EQ(volume_refusal(scratch.read("in.tif")),
            "has 5 x 2 pixels of 1 x uint8 in page 4, but 5 x 4 of 1 x uint8 in page 1: pages must be alike");
}

TEST_F(TiffVolumeTest, a_pipe_is_refused) {
  TiffSample sample;
  fill(sample);
  const std::string bytes = bytes_of(sample);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  try {
    (void)open_volume("/proc/self/fd/" + std::to_string(ends[0]));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.sentence().find("it cannot come through a pipe"), std::string::npos) << error.sentence();
  }
  ::close(ends[0]);
}

TEST_F(TiffVolumeTest, cuts_and_random_bytes_do_no_harm) {
  const auto peak_kib = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  std::minstd_rand random(1);
  const long before = peak_kib();
  int refused = 0, rounds = 0;
  for (const auto compression :
       std::initializer_list<std::uint16_t>{COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                            COMPRESSION_PACKBITS, COMPRESSION_ZSTD, COMPRESSION_LZMA}) {
    if (TIFFIsCODECConfigured(compression) == 0) continue;
    for (const std::uint32_t tile : {0U, 16U}) {
      TiffSample sample;
      sample.compression = compression;
      sample.tile = tile;
      sample.is_described = true;
      fill(sample);
      const std::string whole = bytes_of(sample);
      EXPECT_EQ(volume_refusal(whole), "");
      for (std::size_t size = 1; size < whole.size(); size += size < 64 ? 1 : 13) {
        ASSERT_NE(volume_refusal(whole.substr(0, size)), "") << size << " of " << whole.size();
      }
      for (int round = 0; round < 400; ++round, ++rounds) {
        std::string bytes = whole;
        for (int flips = 1 + round % 5; flips > 0; --flips) {
          bytes[random() % bytes.size()] = static_cast<char>(random() >> 8);
        }
        refused += volume_refusal(bytes).empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, rounds / 4);  // what is not refused hit pixels or what is carried over
  EXPECT_LT(peak_kib() - before, 128 * 1024);
}

}  // namespace
}  // namespace tessera::tool
