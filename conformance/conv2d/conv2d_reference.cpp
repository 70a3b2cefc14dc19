// What the outputs of a conv2d must be, and comparing results with it.
#include "conformance/conv2d/conv2d_reference.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "conformance/in_threads.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

namespace {

/// Products up to which every pixel is computed: some 0.2 s on one core.
constexpr double kCompleteProducts = 1 << 24;
/// Of so many rows one is computed, so that every strip of 16 rows, at any place, meets rows at every offset.
constexpr std::int64_t kRowsOfASample = 16;
/// Rows at either edge that are all computed: the largest filter reaches no further.
constexpr std::int64_t kEdgeRows = 8;

std::string pixel_name(std::int64_t image, std::int64_t y, std::int64_t x) {
  return "pixel (" + std::to_string(y) + ", " + std::to_string(x) + ") of output " + std::to_string(image);
}

}  // namespace

template <class T>
Conv2dReference<T>::Conv2dReference(Conv2dInputs<T> inputs, std::uint64_t seed, Draw draw)
    : inputs_(std::move(inputs)), draw_(std::is_integral_v<T> ? Draw::chosen : draw) {
  const Conv2d& p = inputs_.problem;
  const std::int64_t height = p.output_height();
  if (p.batch == 0 || height == 0 || p.output_width() == 0) return;
  const double pixels =
      static_cast<double>(p.batch) * static_cast<double>(height) * static_cast<double>(p.output_width());
  if (draw_ == Draw::symmetric) pixels_in_touch_ = conv2d_pixels_in_touch(p);
  is_complete_ = pixels * static_cast<double>(p.filter_height * p.filter_width) <= kCompleteProducts;
  for (std::int64_t image = 0; image < p.batch; ++image) {
    for (std::int64_t y = 0; y < height; ++y) {
      const bool is_edge = y < kEdgeRows || y >= height - kEdgeRows;
      const std::int64_t sample = y / kRowsOfASample;
      const auto chosen =
          random_below(kRowsOfASample, seed + static_cast<std::uint64_t>(image), static_cast<std::uint64_t>(sample));
      const bool is_sample = y % kRowsOfASample == static_cast<std::int64_t>(chosen);
      if (is_complete_ || is_edge || is_sample) rows_.push_back({image, y, {}});
    }
  }
  const double of_row = static_cast<double>(p.output_width()) * static_cast<double>(p.filter_height * p.filter_width);
  in_threads(rows_.size(), of_row * static_cast<double>(rows_.size()), [&](std::size_t i) { compute(rows_[i]); });
}

template <class T>
void Conv2dReference<T>::compute(Row& row) const {
  row.pixels.reserve(static_cast<std::size_t>(inputs_.problem.output_width()));
  for (std::int64_t x = 0; x < inputs_.problem.output_width(); ++x) {
    row.pixels.push_back(conv2d_element(inputs_, row.image, row.y, x));
  }
}

template <class T>
void Conv2dReference<T>::check(std::span<const Output> outputs, double error_factor, Output poison,
                               Comparison& comparison) const {
  const Conv2d& p = inputs_.problem;
  const std::int64_t width = p.output_width();
  const std::int64_t height = p.output_height();
  Chance chance(p.output_type(), conv2d_bound(p), draw_, static_cast<double>(rows_.size()) * static_cast<double>(width),
                error_factor, Excess::of_terms, pixels_in_touch_);
  const auto accept = [&](std::int64_t image, std::int64_t y, std::int64_t x, double found,
                          const ExpectedSum& expected) {
    const std::string difference = chance.difference(found, expected, error_factor * expected.bound, comparison);
    if (!difference.empty()) comparison.fail(pixel_name(image, y, x) + " " + difference);
  };
  for (const Row& row : rows_) {
    for (std::int64_t x = 0; x < width; ++x) {
      accept(row.image, row.y, x, outputs[(row.image * height + row.y) * width + x], row.pixels[x]);
    }
  }
  if (std::string unlikely = chance.failure_of_all(); !unlikely.empty() && !comparison.failed()) {
    comparison.fail(std::move(unlikely));
  }
  if (is_complete_) return;
  for (std::size_t i = 0; i < outputs.size() && !comparison.failed(); ++i) {
    if (std::memcmp(&outputs[i], &poison, sizeof poison) != 0) continue;
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t y = index / width % height;
    const std::int64_t image = index / width / height;
    accept(image, y, index % width, outputs[i], conv2d_element(inputs_, image, y, index % width));
  }
}

template class Conv2dReference<std::uint8_t>;
template class Conv2dReference<std::int16_t>;
template class Conv2dReference<std::int32_t>;
template class Conv2dReference<float>;

}  // namespace tessera::conformance
