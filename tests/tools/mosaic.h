// The picture in docs/convolve.md before it is convolved, and in docs/denoise.md with noise: a mosaic of a sun over the
// sea. In integers alone, so that it is the same wherever it is drawn.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::testing_support {

constexpr std::int64_t kMosaicWidth = 240;
constexpr std::int64_t kMosaicHeight = 160;

/// Red, green and blue of every pixel, row by row.
[[nodiscard]] std::vector<std::uint8_t> draw_mosaic();
/// The same with noise of a standard deviation, rounded, and cut at 0 and 255.
[[nodiscard]] std::vector<std::uint8_t> draw_noisy_mosaic(std::int64_t deviation);

}  // namespace tessera::testing_support
