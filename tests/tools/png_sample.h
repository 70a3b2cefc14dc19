// PNG files for tests, written and read by libpng alone, without a line of the program's own reading and writing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::testing_support {

/// A PNG as the file has it: rows packed, nothing expanded.
struct PngSample {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int depth = 8;       ///< bits of a sample
  int color_type = 0;  ///< PNG_COLOR_TYPE_...
  bool interlaced = false;
  bool transparent = false;  ///< colour 1, or palette entries with an alpha of their own
  bool described = false;    ///< with gamma, pixel size and a comment
  std::vector<std::uint8_t> bytes;

  [[nodiscard]] int channels() const;
  [[nodiscard]] std::size_t row_bytes() const;
  /// Sample `channel` of a pixel, as the file has it.
  [[nodiscard]] unsigned sample(std::uint32_t y, std::uint32_t x, int channel) const;
};

/// A palette's entry: red, green, blue, alpha.
[[nodiscard]] std::vector<std::uint8_t> palette_entry(unsigned index);

/// Pixels that look random, from a seed.
void fill_noise(PngSample& sample, std::uint32_t seed);

/// The bytes of the file.
[[nodiscard]] std::string encode(const PngSample& sample);
/// Throws std::runtime_error with libpng's words.
[[nodiscard]] PngSample decode(const std::string& file);

/// What expanding must make of it: 8 or 16 bit, grey or colour, alpha where there is transparency. One number a sample.
struct Samples {
  int channels = 1;
  unsigned largest = 255;
  std::vector<unsigned> numbers;
};
[[nodiscard]] Samples expanded(const PngSample& sample);

}  // namespace tessera::testing_support
