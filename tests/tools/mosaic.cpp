// Tiles are the cells of points that were pushed off a grid: a pixel belongs to the nearest point. Where two points are
// about equally near, there is mortar.
#include "mosaic.h"

#include <algorithm>
#include <array>

#include "tools/random/integer_random.h"

namespace tessera::testing_support {

namespace {

constexpr std::int64_t kFine = 6;        // steps of a pixel
constexpr std::int64_t kTile = 10;       // pixels between points
constexpr std::int64_t kMortarHalf = 4;  // steps

struct Colour {
  std::int64_t red = 0;
  std::int64_t green = 0;
  std::int64_t blue = 0;
};

struct Point {
  std::int64_t y = 0;
  std::int64_t x = 0;
};

/// A number below `limit` that looks random, for one tile.
std::int64_t noise(std::int64_t row, std::int64_t column, std::uint32_t salt, std::int64_t limit) {
  std::uint32_t bits = static_cast<std::uint32_t>(row) * 0x9e3779b1U +
                       static_cast<std::uint32_t>(column) * 0x85ebca77U + salt * 0xc2b2ae3dU;
  for (int round = 0; round < 3; ++round) {
    bits ^= bits >> 15;
    bits *= 0x2c1b3c6dU;
  }
  return static_cast<std::int64_t>(bits >> 8) % limit;
}

Point centre(std::int64_t row, std::int64_t column) {
  constexpr std::int64_t kPush = 4 * kFine;
  return {(row * kTile + kTile / 2) * kFine + noise(row, column, 1, kPush) - kPush / 2,
          (column * kTile + kTile / 2) * kFine + noise(row, column, 2, kPush) - kPush / 2};
}

std::int64_t square(std::int64_t number) {
  return number * number;
}

/// What the picture shows at a tile's point, in pixels.
Colour motif(std::int64_t y, std::int64_t x) {
  const std::int64_t from_sun = square(y - 58) + square(x - 160);
  if (from_sun < square(26)) return {250, 204, 70};
  if (from_sun < square(37)) return {240, 150, 48};
  if (from_sun < square(47)) return {205, 84, 42};
  const std::int64_t shore = 106 + (std::abs(x % 90 - 45) - 22) / 4;
  if (y < shore) return {88 + y, 146 + y / 2, 206 - y / 4};
  const std::int64_t foam = (y + std::abs(x % 60 - 30) / 2) % 26;
  if (foam < 9) return {226, 236, 228};
  return {14 + (160 - y) / 2, 96 + (160 - y), 128 + (160 - y) / 2};
}

Colour tile_colour(std::int64_t row, std::int64_t column) {
  const Point point = centre(row, column);
  const Colour base = motif(point.y / kFine, point.x / kFine);
  const std::int64_t shade = noise(row, column, 3, 41) - 20;
  const auto shaded = [&](std::int64_t value) { return std::clamp<std::int64_t>(value + shade, 0, 255); };
  return {shaded(base.red), shaded(base.green), shaded(base.blue)};
}

/// At one fine step.
Colour colour_at(std::int64_t y, std::int64_t x) {
  const std::int64_t row = y / (kTile * kFine);
  const std::int64_t column = x / (kTile * kFine);
  std::array<std::int64_t, 2> nearest{INT64_MAX, INT64_MAX};
  std::array<Point, 2> points{};
  Point tile;
  for (std::int64_t r = row - 2; r <= row + 2; ++r) {
    for (std::int64_t c = column - 2; c <= column + 2; ++c) {
      const Point point = centre(r, c);
      const std::int64_t distance = square(y - point.y) + square(x - point.x);
      if (distance < nearest[0]) {
        nearest[1] = nearest[0];
        points[1] = points[0];
        nearest[0] = distance;
        points[0] = point;
        tile = {r, c};
      } else if (distance < nearest[1]) {
        nearest[1] = distance;
        points[1] = point;
      }
    }
  }
  const std::int64_t apart = square(points[0].y - points[1].y) + square(points[0].x - points[1].x);
  const bool is_mortar = square(nearest[1] - nearest[0]) < 4 * square(kMortarHalf) * apart;
  return is_mortar ? Colour{62, 56, 52} : tile_colour(tile.y, tile.x);
}

}  // namespace

std::vector<std::uint8_t> draw_mosaic() {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < kMosaicHeight; ++y) {
    for (std::int64_t x = 0; x < kMosaicWidth; ++x) {
      Colour sum;
      for (std::int64_t step = 0; step < 9; ++step) {
        const Colour colour = colour_at(y * kFine + step / 3 * 2 + 1, x * kFine + step % 3 * 2 + 1);
        sum = {sum.red + colour.red, sum.green + colour.green, sum.blue + colour.blue};
      }
      for (const std::int64_t channel : {sum.red, sum.green, sum.blue}) {
        pixels.push_back(static_cast<std::uint8_t>(channel / 9));
      }
    }
  }
  return pixels;
}

std::vector<std::uint8_t> draw_noisy_mosaic(std::int64_t deviation) {
  constexpr std::int64_t kParts = 256;  // of a level
  std::vector<std::uint8_t> pixels = draw_mosaic();
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    tool::IntegerRandom random(1, 0, i);
    const std::int64_t level = pixels[i] * kParts + random.normal(deviation * kParts) + kParts / 2;
    pixels[i] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(level / kParts, 0, 255));
  }
  return pixels;
}

}  // namespace tessera::testing_support
