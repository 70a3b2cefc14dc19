// The picture of docs/classify.md is what the program draws.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scratch_folder.h"
#include "tools/digits/digit_files.h"
#include "tools/images/png_reader.h"

namespace tessera::tool {
namespace {

std::vector<std::uint8_t> pixels_of(const std::string& path) {
  PngReader reader(path, 10'000'000);
  const std::size_t row_bytes = reader.layout().row_bytes();
  std::vector<std::uint8_t> pixels(row_bytes * static_cast<std::size_t>(reader.layout().height));
  for (std::size_t first = 0; first < pixels.size(); first += row_bytes) {
    reader.read_row(std::span(pixels).subspan(first, row_bytes));
  }
  reader.finish();
  return pixels;
}

TEST(DigitSheetTest, is_the_documents_picture) {
  const testing_support::ScratchFolder scratch;
  // Enough images for twenty of each digit; those of a larger set begin with the same.
  write_digits({.folder = scratch.path("d"), .training_images = 500, .test_images = 1});
  const std::vector<std::uint8_t> drawn = pixels_of(scratch.path("d/samples.png"));
  EXPECT_FALSE(drawn.empty());
  EXPECT_EQ(drawn, pixels_of(TESSERA_PICTURES_PATH "/digits.png")) << "draw it anew: tessera digits --out DIR";
}

}  // namespace
}  // namespace tessera::tool
