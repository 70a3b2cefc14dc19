// From points to curves, from curves to short straight pieces, from these to pixels.
//
// Lengths are in 1/4096 of a pixel, factors in 1/4096. The middle of the image is (0, 0) until it is drawn.
#include "tools/digits/digit_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/digits/digit_shapes.h"
#include "tools/random/integer_random.h"

namespace tessera::tool {

namespace {

constexpr std::int64_t kPixel = 4096;
constexpr std::int64_t kOne = 4096;
constexpr std::int64_t kWidth = 14 * kPixel;  // of the box of a shape, before it is scaled
constexpr std::int64_t kHeight = 19 * kPixel;
constexpr std::int64_t kReach = 10 * kPixel;  // about the distance of the box's edges from the middle
constexpr int kPieces = 6;                    // straight ones between two points of a curve
constexpr std::int64_t kDrawnSide = static_cast<std::int64_t>(kDigitSide);

// How much hands differ: chosen so that the study's classifier is right on most images, but not on all.
constexpr std::int64_t kPointDeviation = kPixel * 80 / 100;
constexpr std::int64_t kBendDeviation = kPixel * 95 / 100;
constexpr std::int64_t kSlantDeviation = kOne * 20 / 100;
constexpr std::int64_t kTurnDeviation = kOne * 7 / 100;  // of the tangent of half the angle: 8 degrees
constexpr std::int64_t kScaleDeviation = kOne * 10 / 100;
constexpr std::int64_t kShiftDeviation = kPixel * 70 / 100;
constexpr std::int64_t kNoiseDeviation = 10;

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// What one hand does to all points alike.
class Hand {
 public:
  explicit Hand(IntegerRandom& random) {
    bend_ = {random.normal(kBendDeviation), random.normal(kBendDeviation)};
    const std::int64_t turn = random.normal(kTurnDeviation);
    const std::int64_t slant = random.normal(kSlantDeviation) - kOne / 12;  // most people slant to the right
    const std::int64_t across = kOne + random.normal(kScaleDeviation);
    const std::int64_t down = kOne + random.normal(kScaleDeviation);
    const std::int64_t whole = kOne * kOne + turn * turn;
    const std::int64_t cosine = (kOne * kOne - turn * turn) * kOne / whole;
    const std::int64_t sine = 2 * turn * kOne * kOne / whole;
    // First scaled, then slanted, then turned.
    const std::int64_t slanted = slant * down / kOne;
    row_x_ = {cosine * across / kOne, (cosine * slanted - sine * down) / kOne};
    row_y_ = {sine * across / kOne, (sine * slanted + cosine * down) / kOne};
    shift_ = {random.normal(kShiftDeviation), random.normal(kShiftDeviation)};
  }

  [[nodiscard]] Point moved(Point p) const {
    p = {p.x + bend_.x * p.y / kReach * p.y / kReach, p.y + bend_.y * p.x / kReach * p.x / kReach};
    return {(row_x_.x * p.x + row_x_.y * p.y) / kOne + shift_.x, (row_y_.x * p.x + row_y_.y * p.y) / kOne + shift_.y};
  }

 private:
  Point bend_;
  Point row_x_;
  Point row_y_;
  Point shift_;
};

/// Catmull and Rom's curve from b to c, at `step` of kPieces; a and d are the points before and behind.
std::int64_t on_curve(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t step) {
  constexpr std::int64_t n = kPieces;
  const std::int64_t cubic = (3 * b - a - 3 * c + d) * step * step * step / (n * n * n);
  const std::int64_t square = (2 * a - 5 * b + 4 * c - d) * step * step / (n * n);
  return (2 * b + (c - a) * step / n + square + cubic) / 2;
}

/// Ink of a pen that goes straight from one point to another, its radius changing on the way.
class Paper {
 public:
  explicit Paper(std::int64_t ink) : ink_(ink) {}

  void draw(Point from, Point to, std::int64_t radius_from, std::int64_t radius_to) {
    const std::int64_t reach = std::max(radius_from, radius_to) + kPixel;
    const std::int64_t left = pixel_of(std::min(from.x, to.x) - reach),
                       right = pixel_of(std::max(from.x, to.x) + reach);
    const std::int64_t top = pixel_of(std::min(from.y, to.y) - reach),
                       bottom = pixel_of(std::max(from.y, to.y) + reach);
    const std::int64_t dx = to.x - from.x, dy = to.y - from.y;
    const std::int64_t length = std::max<std::int64_t>(1, dx * dx + dy * dy);
    for (std::int64_t row = top; row <= bottom; ++row) {
      for (std::int64_t column = left; column <= right; ++column) {
        const std::int64_t px = centre_of(column) - from.x, py = centre_of(row) - from.y;
        // The nearest point of the piece, as a share of its length.
        const std::int64_t share = std::clamp<std::int64_t>((px * dx + py * dy) * kOne / length, 0, kOne);
        const std::int64_t away_x = px - dx * share / kOne, away_y = py - dy * share / kOne;
        const std::int64_t radius = radius_from + (radius_to - radius_from) * share / kOne;
        cover(row, column, radius + kPixel / 2 - root(away_x * away_x + away_y * away_y));
      }
    }
  }

  [[nodiscard]] std::int64_t at(std::size_t pixel) const { return ink_of_[pixel]; }

 private:
  static std::int64_t pixel_of(std::int64_t place) {
    return std::clamp<std::int64_t>((place + kDrawnSide * kPixel / 2) / kPixel, 0, kDrawnSide - 1);
  }
  static std::int64_t centre_of(std::int64_t pixel) { return (2 * pixel + 1 - kDrawnSide) * kPixel / 2; }
  /// The one operation in floating point; IEEE 754 rounds it the same way everywhere.
  static std::int64_t root(std::int64_t square) {
    return static_cast<std::int64_t>(std::sqrt(static_cast<double>(square)));
  }
  void cover(std::int64_t row, std::int64_t column, std::int64_t covered) {
    std::int64_t& ink = ink_of_[static_cast<std::size_t>(row * kDrawnSide + column)];
    ink = std::max(ink, std::clamp<std::int64_t>(covered, 0, kPixel) * ink_ / kPixel);
  }

  std::int64_t ink_;
  std::array<std::int64_t, kDigitPixels> ink_of_{};
};

void draw_stroke(Paper& paper, const Stroke& stroke, const std::vector<Point>& points, std::int64_t radius_first,
                 std::int64_t radius_last) {
  const auto point = [&](std::size_t number) { return points[stroke[std::min(number, stroke.size() - 1)]]; };
  const auto last = static_cast<std::int64_t>(stroke.size() - 1) * kPieces;
  Point from = point(0);
  std::int64_t radius_from = radius_first;
  for (std::int64_t step = 1; step <= last; ++step) {
    const auto segment = static_cast<std::size_t>((step - 1) / kPieces);
    const std::int64_t place = (step - 1) % kPieces + 1;
    const Point a = point(segment == 0 ? 0 : segment - 1), b = point(segment), c = point(segment + 1),
                d = point(segment + 2);
    const Point to{on_curve(a.x, b.x, c.x, d.x, place), on_curve(a.y, b.y, c.y, d.y, place)};
    const std::int64_t radius_to = radius_first + (radius_last - radius_first) * step / last;
    paper.draw(from, to, radius_from, radius_to);
    from = to;
    radius_from = radius_to;
  }
}

}  // namespace

DigitImage draw_digit(std::uint64_t seed, std::uint64_t set, std::uint64_t index) {
  IntegerRandom random(seed, set, index);
  DigitImage image;
  image.label = static_cast<std::uint8_t>(random.below(10));
  const std::vector<DigitShape>& styles = digit_shapes(image.label);
  const DigitShape& shape = styles[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(styles.size())))];
  const Hand hand(random);
  std::vector<Point> points;
  for (const ShapePoint& p : shape.points) {
    const Point moved{(p.x - 50) * kWidth / 100 + random.normal(kPointDeviation),
                      (p.y - 50) * kHeight / 100 + random.normal(kPointDeviation)};
    points.push_back(hand.moved(moved));
  }
  const std::int64_t radius = random.between(kPixel * 55 / 100, kPixel * 135 / 100);
  Paper paper(random.between(200, 255));
  for (const Stroke& stroke : shape.strokes) {
    const std::int64_t pressed = radius * random.between(85, 120) / 100;
    draw_stroke(paper, stroke, points, pressed, radius * random.between(65, 110) / 100);
  }
  for (std::size_t pixel = 0; pixel < kDigitPixels; ++pixel) {
    const std::int64_t value = paper.at(pixel) + random.normal(kNoiseDeviation);
    image.pixels[pixel] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
  }
  return image;
}

}  // namespace tessera::tool
