// How "marching" and "separable" walk over the output: in strips of columns, each cut into runs of rows, which are
// dealt to the threads; and the rows of the image that a strip takes, copied with zeros around them.
//
//        image of 4096 columns              Where the march reads the image itself, a strip is as wide as the image. A
//     +-------------------------+           step of 8 rows then reads and writes whole rows, which the processor's
//     |  run                    |           prefetching handles best: one core of a Xeon takes 5.5 ms for 3 x 3 on
//     |-------------------------|           4096 x 4096, and 7.4 ms in strips of 512 columns. Where rows are copied
//     |  run                    |           first, a strip is so narrow that the copies under the filter stay in the
//     +-------------------------+           lower caches. Runs of a small image are so short that each thread gets
//                                           some; those of a thread that follow each other are one
//                                           march. How the output is cut changes no bit.
//
// Also what rows a march writes, and which outputs are so large that they are written around the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_tbb_machine.h"
#include "mathematics/division.h"
#include "ops/conv2d/conv2d_marching_kernel.h"
#include "ops/conv2d/conv2d_operands.h"

namespace tessera::cpu_tbb {

/// One piece of the output.
struct Strip {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  /// Without its first rows.
  [[nodiscard]] Strip below(std::int64_t done) const noexcept {
    Strip rest = *this;
    rest.row += done;
    rest.rows -= done;
    return rest;
  }
};

/// Whether a strip's rows are read where they lie in the image, or copied.
enum class StripRows { in_image, copied };

/// Columns of a strip whose rows are copied: 14 rows of so many in pairs are 112 KiB, twice that with upper halves.
inline constexpr std::int64_t kCopiedColumns = 1024;

/// The strips of a problem, counted through.
class Strips {
 public:
  Strips(const Conv2d& problem, StripRows rows, int threads)
      : height_(problem.output_height()),
        width_(problem.output_width()),
        columns_(kCopiedColumns),
        // A run also reads the filter's rows above it, which the run before has read. So a run is at least 8 times as
        // high as the filter.
        run_rows_(std::max<std::int64_t>(64, (8 * problem.filter_height + 63) / 64 * 64)),
        down_(mathematics::ceil_div(height_, run_rows_)) {
    if (rows == StripRows::in_image) {
      columns_ = kMostColumns;
      while (columns_ > kCopiedColumns && problem.batch * down_ * across_with(columns_) < kFewest) columns_ /= 2;
    }
    across_ = across_with(columns_);
    const std::int64_t columns = std::min(columns_, width_);
    while (problem.batch * down_ * across_ < threads && run_rows_ > kFewestRows &&
           run_rows_ / 2 * columns >= kFewestPixels) {
      run_rows_ /= 2;
      down_ = mathematics::ceil_div(height_, run_rows_);
    }
    while (problem.batch * down_ * across_ >= 2 * kRunsOfThread * threads && run_rows_ < kMostRows) {
      run_rows_ *= 2;
      down_ = mathematics::ceil_div(height_, run_rows_);
    }
    count_ = problem.batch * down_ * across_;
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// That of `index`, together with those below it up to `last`: a march begins with rows that nothing has prefetched.
  /// `index` becomes that of the next strip.
  [[nodiscard]] Strip take(std::int64_t& index, std::int64_t last) const noexcept {
    const std::int64_t column = index / down_;
    const std::int64_t end = std::min(last, (column + 1) * down_);
    Strip strip;
    strip.image = column / across_;
    strip.row = index % down_ * run_rows_;
    strip.column = column % across_ * columns_;
    strip.rows = std::min((end - index) * run_rows_, height_ - strip.row);
    strip.columns = std::min(columns_, width_ - strip.column);
    index = end;
    return strip;
  }

 private:
  /// The widest strip: 14 rows of so many pixels are 448 KiB, which a second-level cache holds.
  static constexpr std::int64_t kMostColumns = 8192;
  /// Strips are made narrower until there are so many pieces, enough to keep some threads busy to the end.
  static constexpr std::int64_t kFewest = 64;
  /// In a small image runs are made shorter until every thread has one, but not below these: kFewestPixels take about a
  /// microsecond with 3 x 3, and less is not worth giving to another thread. More runs than threads cost more than they
  /// balance: on 2 threads of a Xeon 128 x 128 takes 8 us in 2 runs and 11 in 4.
  static constexpr std::int64_t kFewestRows = 16;
  /// Where threads have many runs, these are made longer, because each begins with rows that nothing has prefetched:
  /// 4096 x 256 with 3 x 3 took 267 us on two threads of an EPYC in runs of 64 rows, 220 in 128, 187 in 512 (no file).
  static constexpr std::int64_t kRunsOfThread = 4;
  static constexpr std::int64_t kMostRows = 512;
  static constexpr std::int64_t kFewestPixels = 4096;

  [[nodiscard]] std::int64_t across_with(std::int64_t columns) const noexcept {
    return mathematics::ceil_div(width_, columns);
  }

  std::int64_t height_;
  std::int64_t width_;
  std::int64_t columns_;
  std::int64_t run_rows_;
  std::int64_t down_;
  std::int64_t across_ = 0;
  std::int64_t count_ = 0;
};

/// The columns of the image under a strip: `count` from column x on, of which [first, last) lie in the image.
struct SourceColumns {
  std::int64_t x = 0;
  std::int64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] static SourceColumns under(const Conv2d& problem, const Strip& strip) noexcept {
    SourceColumns columns;
    columns.x = strip.column - problem.anchor_x;
    columns.count = strip.columns + problem.filter_width - 1;
    columns.first = std::clamp<std::int64_t>(-columns.x, 0, columns.count);
    columns.last = std::clamp<std::int64_t>(problem.width - columns.x, columns.first, columns.count);
    return columns;
  }
};

/// Fills what a copied row has outside of the image, and the overhang. All rows under a strip have the same margins, so
/// this is done once for each place that rows are copied to.
template <class Sum>
void clear_margins(const SourceColumns& columns, Sum* target) {
  std::fill_n(target, columns.first, Sum(0));
  std::fill(target + columns.last, target + columns.count + kMarchingOverhang, Sum(0));
}

/// Row y of the strip's image as numbers, between margins that are clear; 0 above and below the image.
template <class Pixel, class Sum>
void copy_pixels(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t y, const SourceColumns& columns,
                 Sum* target) {
  const Conv2d& p = images.problem;
  if (y < 0 || y >= p.height) {
    std::fill(target + columns.first, target + columns.last, Sum(0));
    return;
  }
  const Pixel* const row = images.image + (strip.image * p.height + y) * p.width;
  for (std::int64_t i = columns.first; i < columns.last; ++i) target[i] = conv2d_number<Sum>(row[columns.x + i]);
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

/// The rows of the output that a march down a strip writes in one step, and those of the next step.
template <class Output>
class TargetRows {
 public:
  /// From row `first` of the strip on; `rows` comes with the number of the step's rows.
  template <class Source, class Pixel>
  void give(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t first,
            MarchingRows<Source, Output>& rows) {
    const std::int64_t image_row = strip.image * images.output_height + strip.row + first;
    Output* row = reinterpret_cast<Output*>(images.row_of(image_row) + strip.column);
    const std::int64_t next = rows.streams ? 0 : std::min(kMarchingRows, strip.rows - first - rows.rows);
    for (std::int64_t i = 0; i < rows.rows + next; ++i, row += images.output_width) rows_[i] = row;
    rows.targets = rows_;
    rows.upcoming_targets = rows_ + rows.rows;
    rows.upcoming_target_rows = next;
  }

 private:
  Output* rows_[2 * kMarchingRows] = {};
};

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

/// Images and outputs together.
[[nodiscard]] inline double moved_bytes(const Conv2d& problem) noexcept {
  const auto batch = static_cast<double>(problem.batch);
  return batch * static_cast<double>(problem.height) * static_cast<double>(problem.width) *
             static_cast<double>(size_bytes(problem.type)) +
         batch * static_cast<double>(problem.output_height()) * static_cast<double>(problem.output_width()) * 4;
}
/// What the last level of the caches holds of them. Others need it too, so no more of a large one is counted on.
[[nodiscard]] inline double most_cached_bytes() {
  constexpr double kMost = 28 << 20, kShare = 0.875;
  return std::min(kMost, kShare * static_cast<double>(last_level_cache_bytes()));
}
/// Are the outputs so large that writing them around the caches pays? On an EPYC whose last level has 32 MiB 3 x 3
/// takes 590 us for 1500 x 1500 in float and 700 around the caches; for 2000 x 2000, which move 32 MB, 1000 and 670
/// (no file).
[[nodiscard]] inline bool streams_output(const Conv2d& problem) {
  return moved_bytes(problem) > most_cached_bytes();
}

/// Calls `use(piece)` for pieces of a wide strip that are narrow enough for rows that are copied.
template <class Use>
void for_each_copied(const Strip& strip, const Use& use) {
  for (std::int64_t column = 0; column < strip.columns; column += kCopiedColumns) {
    Strip piece = strip;
    piece.column += column;
    piece.columns = std::min(kCopiedColumns, strip.columns - column);
    use(piece);
  }
}

/// Calls `compute(strip)` for every strip.
template <class Compute>
void for_each_strip(const Conv2d& problem, StripRows rows, Executor& executor, const Compute& compute) {
  const Strips strips(problem, rows, executor.threads());
  executor.parallel_for(strips.count(), [&](std::int64_t first, std::int64_t last) {
    while (first < last) compute(strips.take(first, last));
  });
}

}  // namespace tessera::cpu_tbb
