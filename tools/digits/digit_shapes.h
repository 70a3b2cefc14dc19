// How people write the ten digits: the points through which a pen goes, in several styles each.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::tool {

/// In a box 100 wide and 100 high, y downwards. Flourishes may leave it.
struct ShapePoint {
  std::int16_t x = 0;
  std::int16_t y = 0;
};

/// A stroke is a smooth curve through the points of these numbers. Where two strokes share a point, the pen turns.
using Stroke = std::vector<std::uint8_t>;

struct DigitShape {
  std::vector<ShapePoint> points;
  std::vector<Stroke> strokes;
};

/// The styles of a digit from 0 to 9.
[[nodiscard]] const std::vector<DigitShape>& digit_shapes(int digit);

}  // namespace tessera::tool
