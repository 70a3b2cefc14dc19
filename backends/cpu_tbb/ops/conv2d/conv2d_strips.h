// How "marching" and "separable" walk over the output: in strips of columns, each cut into runs of rows, which are
// dealt to the threads; and the rows of the image that a strip takes, copied with zeros around them.
//
//        image of 4096 columns                     A strip is narrow enough that the source rows under the filter stay
//     +-------+-------+-------+---                 in the first-level cache while the march goes down: 512 columns x
//     | strip | strip | strip |                    14 rows of a 7 x 7 filter are 30 KiB. Rows are copied, because rows
//     |  run  |       |       |                    of an image whose width is a power of two fall into the same few
//     |-------|       |       |                    sets of that cache; the copy also holds the zeros beyond the edges
//     |  run  |       |       |                    and turns pixels into the type of the sums, so that nothing is asked
//     +-------+-------+-------+---                 inside. Cuts depend on the problem alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_marching_kernel.h"

namespace tessera::cpu_tbb {

/// One piece of the output.
struct Strip {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// The strips of a problem, counted through.
class Strips {
 public:
  explicit Strips(const Conv2d& problem)
      : height_(problem.output_height()),
        width_(problem.output_width()),
        // The rows above a run are copied anew: no more than an eighth of its own.
        run_rows_(std::max<std::int64_t>(64, (8 * problem.filter_height + 63) / 64 * 64)),
        down_((height_ + run_rows_ - 1) / run_rows_),
        across_((width_ + kColumns - 1) / kColumns),
        count_(problem.batch * down_ * across_) {}

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] Strip at(std::int64_t index) const noexcept {
    Strip strip;
    strip.image = index / (down_ * across_);
    strip.row = index / across_ % down_ * run_rows_;
    strip.column = index % across_ * kColumns;
    strip.rows = std::min(run_rows_, height_ - strip.row);
    strip.columns = std::min(kColumns, width_ - strip.column);
    return strip;
  }

 private:
  static constexpr std::int64_t kColumns = 512;
  std::int64_t height_;
  std::int64_t width_;
  std::int64_t run_rows_;
  std::int64_t down_;
  std::int64_t across_;
  std::int64_t count_;
};

/// `count` pixels of the strip's image from (y, x) on, as numbers; 0 outside of the image.
template <class Pixel, class Sum>
void copy_pixels(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t y, std::int64_t x,
                 std::int64_t count, Sum* target) {
  const Conv2d& p = images.problem;
  if (y < 0 || y >= p.height) {
    std::fill_n(target, count, Sum(0));
    return;
  }
  const Pixel* const row = images.image + (strip.image * p.height + y) * p.width;
  const std::int64_t first = std::clamp<std::int64_t>(-x, 0, count);
  const std::int64_t last = std::clamp<std::int64_t>(p.width - x, first, count);
  std::fill_n(target, first, Sum(0));
  for (std::int64_t i = first; i < last; ++i) target[i] = conv2d_number<Sum>(row[x + i]);
  std::fill(target + last, target + count, Sum(0));
}

/// Where the strip's source rows [first, first + count) begin in the image, as far as they lie in it; returns how many.
template <class Pixel>
std::int64_t upcoming_rows(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t first,
                           std::int64_t count, const unsigned char** rows) {
  const Conv2d& p = images.problem;
  const std::int64_t above = strip.row - p.anchor_y;
  const std::int64_t last = std::min({first + count, strip.rows + p.filter_height - 1, p.height - above});
  std::int64_t found = 0;
  for (std::int64_t row = std::max(first, -above); row < last; ++row) {
    const Pixel* const pixels = images.image + (strip.image * p.height + above + row) * p.width + strip.column;
    rows[found++] = reinterpret_cast<const unsigned char*>(pixels);
  }
  return found;
}

/// Rows in scratch memory, of which the last few stay when the march goes on.
template <class Sum>
class RowRing {
 public:
  RowRing(Sum* memory, std::int64_t rows, std::int64_t row_size) {
    for (std::int64_t i = 0; i < rows; ++i) rows_.push_back(memory + i * row_size);
  }
  [[nodiscard]] Sum* const* rows() const noexcept { return rows_.data(); }
  /// Row `count` becomes row 0; the rows before it come last and may be written anew.
  void advance(std::int64_t count) { std::rotate(rows_.begin(), rows_.begin() + count, rows_.end()); }

 private:
  std::vector<Sum*> rows_;
};

/// Elements of a scratch row for `columns` columns that count.
[[nodiscard]] constexpr std::int64_t scratch_row(std::int64_t columns) noexcept {
  // A multiple of a cache line, but not of a power of two: neighbouring rows fall into different sets.
  return (columns + kMarchingOverhang + 15) / 16 * 16 + 16;
}

/// Are the outputs so large that writing them around the caches pays? From a second-level cache's size on.
[[nodiscard]] inline bool streams_output(const Conv2d& problem) noexcept {
  constexpr double kLarge = 8 << 20;
  return static_cast<double>(problem.batch) * static_cast<double>(problem.output_height()) *
             static_cast<double>(problem.output_width()) * 4 >
         kLarge;
}

/// Calls `compute(strip)` for every strip.
template <class Compute>
void for_each_strip(const Conv2d& problem, Executor& executor, const Compute& compute) {
  const Strips strips(problem);
  executor.parallel_for(strips.count(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) compute(strips.at(i));
  });
}

}  // namespace tessera::cpu_tbb
