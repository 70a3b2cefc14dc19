// TIFF files for tests, written and read by libtiff alone, without a line of the program's own reading and writing.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::testing_support {

struct TiffSample {
  std::string mode = "wl";  ///< libtiff's: "wb" is big-endian, "wl8" BigTIFF
  std::uint32_t width = 5;
  std::uint32_t height = 4;
  std::uint16_t pages = 3;
  std::uint16_t channels = 1;
  std::uint16_t bits = 8;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t predictor = 1;
  bool has_planes = false;
  std::uint32_t rows_per_strip = 3;
  std::uint32_t tile = 0;  ///< tiles of tile x tile pixels; 0: strips
  bool is_described = false;
  std::string description = "made by hand <b>";
  /// All pages, page behind page, each in the order of its channels side by side, or plane behind plane.
  std::string bytes = {};

  [[nodiscard]] std::size_t page_bytes() const { return std::size_t{width} * height * channels * bits / 8; }
};

/// Writes `sample` to a file. Throws std::runtime_error.
void write_tiff(const TiffSample& sample, const std::string& path);

/// Pixels as TiffSample has them, and of each page what its tags say: one line a tag. Throws std::runtime_error.
struct TiffContent {
  std::string bytes;
  std::vector<std::string> tags;
};
[[nodiscard]] TiffContent read_tiff(const std::string& path);

}  // namespace tessera::testing_support
