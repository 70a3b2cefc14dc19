// One image of a digit as a hand might write it. Whole-number arithmetic alone, so that every machine draws the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::tool {

constexpr std::size_t kDigitSide = 28;  ///< pixels
constexpr std::size_t kDigitPixels = kDigitSide * kDigitSide;

struct DigitImage {
  std::uint8_t label = 0;
  std::array<std::uint8_t, kDigitPixels> pixels{};  ///< rows from the top, 255 is ink
};

/// Image number `index` of a set: a digit in one of its styles, whose points were moved a little, bent, scaled,
/// slanted, turned and shifted, and drawn with a pen of some width, antialiased, with noise on it.
[[nodiscard]] DigitImage draw_digit(std::uint64_t seed, std::uint64_t set, std::uint64_t index);

}  // namespace tessera::tool
