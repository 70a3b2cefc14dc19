// Files that are cut off, damaged, huge, empty or no PNG at all: one clear sentence, and nothing is left behind.
#include <gtest/gtest.h>
#include <png.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "png_sample.h"
#include "support/scratch_folder.h"
#include "tools/convolve/convolve.h"
#include "tools/images/png_reader.h"

namespace tessera::tool {
namespace {

using testing_support::PngSample;

std::string small_png(bool interlaced = false) {
  PngSample sample;
  sample.width = 29;
  sample.height = 31;
  sample.color_type = PNG_COLOR_TYPE_RGB;
  sample.interlaced = interlaced;
  sample.described = true;
  fill_noise(sample, 7);
  return encode(sample);
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// One chunk with its checksum.
std::string chunk(const std::string& name_and_data) {
  const uLong check =
      crc32(0, reinterpret_cast<const Bytef*>(name_and_data.data()), static_cast<uInt>(name_and_data.size()));
  return big_endian(static_cast<std::uint32_t>(name_and_data.size() - 4)) + name_and_data +
         big_endian(static_cast<std::uint32_t>(check));
}

/// A correct head that promises much, and no pixels.
std::string promise(std::uint32_t width, std::uint32_t height, char depth, char color_type, char interlace) {
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         chunk("IHDR" + big_endian(width) + big_endian(height) + depth + color_type + '\0' + '\0' + interlace) +
         chunk("IDAT");
}

class HostileTest : public testing::Test {
 protected:
  /// The sentence with which reading the file to its end is refused; "" if it is not.
  static std::string refusal(const std::string& bytes, std::int64_t most_pixels = 1'000'000'000) {
    // A file in memory: there are thousands of them.
    const int file = ::memfd_create("image", MFD_CLOEXEC);
    EXPECT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    std::string result = refusal_of(path, most_pixels);
    ::close(file);
    return result;
  }

  static std::string refusal_of(const std::string& path, std::int64_t most_pixels) {
    try {
      PngReader reader(path, most_pixels);
      std::vector<std::uint8_t> row(reader.layout().row_bytes());
      for (std::int64_t y = 0; y < reader.layout().height; ++y) reader.read_row(row);
      reader.finish();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      const std::string& sentence = error.sentence();
      EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
      EXPECT_EQ(sentence.rfind("the image '" + path + "' ", 0), 0U) << sentence;
      return sentence.substr(("the image '" + path + "' ").size());
    }
  }

  testing_support::ScratchFolder scratch;
};

TEST_F(HostileTest, files_that_are_cut_off_are_refused_wherever_the_cut_is) {
  for (const bool interlaced : {false, true}) {
    const std::string whole = small_png(interlaced);
    EXPECT_EQ(refusal(whole), "");
    EXPECT_EQ(refusal(whole + "something behind the end"), "");
    EXPECT_EQ(refusal(""), "is empty");
    for (std::size_t size = 1; size < whole.size(); ++size) {
      ASSERT_EQ(refusal(whole.substr(0, size)), "ends too early: it is cut off") << size << " of " << whole.size();
    }
  }
}

TEST_F(HostileTest, random_bytes_do_no_harm) {
  const std::string whole = small_png();
  std::minstd_rand random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = small_png(round % 2 == 1);
    for (int flips = 1 + round % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random() >> 8);
    refused += refusal(bytes).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 1800);  // what is not refused hit the comment, the pixel size, or changed nothing
}

TEST_F(HostileTest, sizes_are_checked_before_memory_is_taken) {
  EXPECT_EQ(refusal(promise(100'000, 100'000, 8, 2, 0)),
            "has 100000 x 100000 pixels, but must have at most 1000000000 (--max-pixels)");
  EXPECT_EQ(refusal(promise(0x7fffffff, 0x7fffffff, 16, 6, 1)),
            "has 2147483647 x 2147483647 pixels, but must have at most 1000000000 (--max-pixels)");
  EXPECT_EQ(refusal(promise(2'000'000'000, 1, 16, 6, 0), 2'000'000'000),
            "is 2000000000 pixels wide, but must have rows of at most 268435456 bytes");
  EXPECT_EQ(refusal(promise(30'000, 30'000, 16, 6, 1)),
            "is interlaced and has 30000 x 30000 pixels: it must be held whole, and may take at most 1073741824 bytes");
  EXPECT_EQ(refusal(promise(30'000, 30'000, 16, 6, 0)), "ends too early: it is cut off");
  EXPECT_EQ(refusal(promise(4, 4, 8, 2, 0), 15), "has 4 x 4 pixels, but must have at most 15 (--max-pixels)");
}

TEST_F(HostileTest, heads_that_make_no_sense_are_refused) {
  for (const std::string& bytes :
       {promise(0, 5, 8, 2, 0), promise(5, 0, 8, 2, 0), promise(5, 5, 3, 2, 0), promise(5, 5, 8, 5, 0),
        promise(5, 5, 8, 2, 7), promise(0x80000000U, 5, 8, 2, 0), promise(5, 5, 8, 3, 0)}) {
    EXPECT_EQ(refusal(bytes).rfind("is damaged: ", 0), 0U);
  }
}

TEST_F(HostileTest, other_files_are_no_png) {
  EXPECT_EQ(refusal("\xff\xd8\xff\xe0JFIF and so on"), "is no PNG");
  EXPECT_EQ(refusal("1 2 3\n"), "is no PNG");
  EXPECT_EQ(refusal("x"), "is no PNG");
  EXPECT_EQ(refusal(std::string(100'000, '\0')), "is no PNG");
}

TEST_F(HostileTest, comments_that_unpack_to_much_are_not_unpacked) {
  std::string packed(1U << 20, '\0');
  uLongf size = packed.size();
  const std::string zeros(64U << 20, '\0');
  ASSERT_EQ(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()),
                      zeros.size(), 9),
            Z_OK);
  packed.resize(size);
  const std::string whole = small_png();
  const std::string text = chunk(std::string("zTXtKey\0\0", 9) + packed);
  const std::string profile = chunk(std::string("iCCPKey\0\0", 9) + packed);
  const std::size_t head = 8 + 25;
  EXPECT_EQ(refusal(whole.substr(0, head) + profile + text + text + whole.substr(head)), "");
}

class HostileConvolveTest : public HostileTest {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) {
      if (info.id == "cpu:0") return;
    }
    GTEST_SKIP() << "cpu:0 is not here";
  }

  /// The sentence with which convolving is refused.
  std::string convolve_refusal(const std::string& input, const std::string& output) {
    Convolution c;
    c.input = input;
    c.output = output;
    c.filter = find_filter("gaussian:3");
    try {
      (void)convolve(c, open("cpu:0"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      return error.sentence();
    }
    return "";
  }
};

TEST_F(HostileConvolveTest, leaves_the_output_as_it_was) {
  const std::string whole = small_png();
  const std::string output = scratch.write("out.png", "as it was");
  for (std::size_t size = 0; size < whole.size(); size += 50) {
    EXPECT_NE(convolve_refusal(scratch.write("in.png", whole.substr(0, size)), output), "");
    ASSERT_EQ(scratch.read("out.png"), "as it was");
    ASSERT_EQ(scratch.names(), (std::set<std::string>{"in.png", "out.png"}));
  }
}

TEST_F(HostileConvolveTest, says_why_a_place_cannot_be_read_or_written) {
  const std::string input = scratch.write("in.png", small_png());
  const std::string folder = scratch.path("");
  const std::string missing = scratch.path("missing.png");
  EXPECT_EQ(convolve_refusal(missing, missing),
            "the image '" + missing + "' cannot be read: No such file or directory");
  EXPECT_EQ(convolve_refusal(folder, missing), "the image '" + folder + "' is a folder");
  EXPECT_EQ(convolve_refusal(input, folder), "the image '" + folder + "' cannot be written: it is a folder");
  const std::string nowhere = scratch.path("no/folder/out.png");
  EXPECT_EQ(convolve_refusal(input, nowhere),
            "the image '" + nowhere + "' cannot be written: No such file or directory");
  EXPECT_EQ(convolve_refusal(input, "/dev/full"), "the image '/dev/full' cannot be written: No space left on device");
  if (::geteuid() != 0) {  // root may write everything
    const std::string kept = scratch.write("kept.png", "kept");
    ::chmod(kept.c_str(), 0444);
    EXPECT_EQ(convolve_refusal(input, kept), "the image '" + kept + "' cannot be written: Permission denied");
    ::chmod(input.c_str(), 0);
    EXPECT_EQ(convolve_refusal(input, missing), "the image '" + input + "' cannot be read: Permission denied");
  }
}

TEST_F(HostileConvolveTest, replaces_the_input_only_if_that_is_asked_for) {
  const std::string input = scratch.write("in.png", small_png());
  const std::string link = scratch.path("link.png");
  ASSERT_EQ(::symlink(input.c_str(), link.c_str()), 0);
  EXPECT_NE(convolve_refusal(input, link).find("--force"), std::string::npos);
  EXPECT_EQ(scratch.read("in.png"), small_png());
  ::chmod(input.c_str(), 0640);
  Convolution c;
  c.input = input;
  c.output = link;
  c.filter = find_filter("gaussian:3");
  c.replaces_input = true;
  (void)convolve(c, open("cpu:0"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_NE(scratch.read("in.png"), small_png());
  EXPECT_EQ(testing_support::decode(scratch.read("in.png")).width, 29U);
  struct stat facts = {};
  ASSERT_EQ(::stat(input.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

}  // namespace
}  // namespace tessera::tool
