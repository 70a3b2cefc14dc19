// Drawn digits: the same on every machine, each for itself, and whole files or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include <tessera/error.h>

#include "support/scratch_folder.h"
#include "table_reading.h"
#include "tools/digits/digit_drawing.h"
#include "tools/digits/digit_files.h"
#include "tools/digits/digit_shapes.h"
#include "tools/digits/digit_sheet.h"
#include "tools/random/integer_random.h"

namespace tessera::tool {
namespace {

/// FNV-1a over labels and pixels.
std::uint64_t fingerprint(std::uint64_t seed, std::uint64_t set, std::uint64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (std::uint64_t index = 0; index < count; ++index) {
    const DigitImage image = draw_digit(seed, set, index);
    add(image.label);
    for (const std::uint8_t pixel : image.pixels) add(pixel);
  }
  return hash;
}

TEST(DigitDrawingTest, is_the_same_on_every_machine) {
  // What g++ 12 drew on x86-64. Other compilers and processors must draw it too; a change of the shapes changes it.
  EXPECT_EQ(fingerprint(1, 0, 500), 0x8ec442d4be917344U);
}

TEST(DigitDrawingTest, seeds_sets_and_numbers_give_other_images) {
  const std::uint64_t one = fingerprint(1, 0, 1);
  EXPECT_EQ(fingerprint(1, 0, 1), one);
  EXPECT_NE(fingerprint(2, 0, 1), one);
  EXPECT_NE(fingerprint(1, 1, 1), one);
  EXPECT_NE(draw_digit(1, 0, 1).pixels, draw_digit(1, 0, 0).pixels);
}

TEST(DigitDrawingTest, holds_every_digit_in_ink_on_paper) {
  std::array<int, 10> counts{};
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const DigitImage image = draw_digit(5, 0, index);
    ++counts.at(image.label);
    const auto ink = std::count_if(image.pixels.begin(), image.pixels.end(), [](std::uint8_t p) { return p > 128; });
    ASSERT_GT(ink, 10) << index;
    ASSERT_LT(ink, 350) << index;
  }
  // 200 of each are expected, with a deviation of sqrt(2000 * 0.1 * 0.9) = 13.4; five of them.
  for (const int count : counts) EXPECT_NEAR(count, 200, 67);
}

TEST(DigitShapesTest, strokes_name_points_that_are_there) {
  for (int digit = 0; digit < 10; ++digit) {
    for (const DigitShape& shape : digit_shapes(digit)) {
      for (const Stroke& stroke : shape.strokes) {
        EXPECT_GE(stroke.size(), 2U);
        for (const std::uint8_t point : stroke) EXPECT_LT(point, shape.points.size()) << digit;
      }
    }
  }
}

TEST(IntegerRandomTest, normal_numbers_have_the_deviation_that_is_asked_for) {
  IntegerRandom random(1, 2, 3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const auto number = static_cast<double>(random.normal(1000));
    sum += number;
    squares += number * number;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 * 1000 / 141.4);        // the mean's deviation is 1000 / sqrt(kDraws)
  EXPECT_NEAR(squares / kDraws, 1e6, 5 * 1e6 * 0.0100);  // and that of the variance sqrt(2 / kDraws) of it
}

class DigitFilesTest : public testing::Test {
 protected:
  [[nodiscard]] DigitRequest request(const std::string& name) const {
    return {.folder = scratch.path(name), .training_images = 60, .test_images = 25, .seed = 9};
  }
  testing_support::ScratchFolder scratch;
};

TEST_F(DigitFilesTest, hold_what_was_drawn) {
  write_digits(request("a"));
  std::string images, labels;
  for (std::uint64_t index = 0; index < 25; ++index) {
    const DigitImage image = draw_digit(9, 1, index);
    images.append(image.pixels.begin(), image.pixels.end());
    labels += static_cast<char>(image.label);
  }
  EXPECT_EQ(scratch.read("a/t10k-images-idx3-ubyte"),
            std::string("\0\0\x08\3\0\0\0\x19\0\0\0\x1c\0\0\0\x1c", 16) + images);
  EXPECT_EQ(scratch.read("a/t10k-labels-idx1-ubyte"), std::string("\0\0\x08\1\0\0\0\x19", 8) + labels);
  EXPECT_EQ(scratch.read("a/train-images-idx3-ubyte").size(), 16 + 60 * kDigitPixels);
}

TEST_F(DigitFilesTest, have_a_sheet_where_there_is_libpng) {
  const std::vector<std::string> paths = write_digits(request("a"));
  EXPECT_EQ(paths.size(), DigitSheet::kIsWritten ? 5U : 4U);
  if (!DigitSheet::kIsWritten) GTEST_SKIP() << "this build has no libpng";
  const std::string sheet = scratch.read("a/samples.png");
  EXPECT_EQ(sheet.substr(0, 8), "\x89PNG\r\n\x1a\n");
  // Ten rows of twenty images of 56 pixels, and lines of 2.
  EXPECT_EQ(sheet.substr(16, 8), std::string("\0\0\x04\x8a\0\0\x02\x46", 8));
}

TEST_F(DigitFilesTest, more_images_begin_with_the_same) {
  DigitRequest more = request("b");
  more.training_images = 90;
  write_digits(request("a"));
  write_digits(more);
  EXPECT_EQ(scratch.read("b/train-images-idx3-ubyte").substr(16, 60 * kDigitPixels),
            scratch.read("a/train-images-idx3-ubyte").substr(16));
}

TEST_F(DigitFilesTest, packed_ones_unpack_to_the_plain_ones) {
  DigitRequest packed = request("b");
  packed.packs = true;
  write_digits(request("a"));
  const std::vector<std::string> paths = write_digits(packed);
  for (int file = 0; file < 4; ++file) {
    ASSERT_TRUE(paths[file].ends_with("ubyte.gz")) << paths[file];
    const std::string name = paths[file].substr(paths[file].rfind('/') + 1);
    const auto plain = testing_support::read_table(scratch.read("a/" + name.substr(0, name.size() - 3)));
    EXPECT_EQ(testing_support::read_table(scratch.read("b/" + name)).numbers, plain.numbers);
    EXPECT_EQ(plain.refusal, "");
  }
}

TEST_F(DigitFilesTest, replace_files_only_if_that_is_asked_for) {
  DigitRequest again = request("a");
  write_digits(again);
  const std::string before = scratch.read("a/train-images-idx3-ubyte");
  again.seed = 10;
  try {
    write_digits(again);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.sentence(),
              "'" + scratch.path("a/train-images-idx3-ubyte") + "' is there already; --force allows to replace it");
  }
  EXPECT_EQ(scratch.read("a/train-images-idx3-ubyte"), before);
  again.replaces = true;
  write_digits(again);
  EXPECT_NE(scratch.read("a/train-images-idx3-ubyte"), before);
}

TEST_F(DigitFilesTest, a_place_that_cannot_be_is_told) {
  const std::string file = scratch.write("file", "");
  for (const std::string& folder : {file, scratch.path("no/such/folder")}) {
    DigitRequest bad = request("a");
    bad.folder = folder;
    try {
      write_digits(bad);
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.sentence().rfind("the folder '" + folder + "' cannot be made: ", 0), 0U) << error.sentence();
    }
  }
  EXPECT_EQ(scratch.names(), std::set<std::string>{"file"});
}

}  // namespace
}  // namespace tessera::tool
