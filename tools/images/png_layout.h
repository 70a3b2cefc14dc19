// What the pixels of a PNG are, once palettes and samples of less than 8 bit have been expanded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::tool {

struct PngLayout {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;      ///< 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha
  int sample_bytes = 1;  ///< 1, or 2 with the high byte first

  [[nodiscard]] bool has_alpha() const noexcept { return channels % 2 == 0; }
  [[nodiscard]] int pixel_bytes() const noexcept { return channels * sample_bytes; }
  [[nodiscard]] std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(pixel_bytes());
  }
  bool operator==(const PngLayout&) const = default;
};

}  // namespace tessera::tool
