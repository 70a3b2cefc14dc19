// How conv2d's kernels for filters of every size, register_tiled and separable_passes, cut filters and images: what
// their hosts and kernels agree on. Host code alone; the kernels say it again in their own words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <tessera/ops/conv2d.h>

#include "mathematics/conv2d_filter.h"
#include "mathematics/division.h"

namespace tessera::mathematics {

/// Weights that stand together: the kernels take a filter's row, or its column, so many at a time.
inline constexpr std::int64_t kConv2dSegment = 8;

[[nodiscard]] inline std::int64_t conv2d_segments(std::int64_t length) {
  return ceil_div(length, kConv2dSegment);
}
/// Weights of the last segment, from 1 on.
[[nodiscard]] inline std::int64_t conv2d_tail(std::int64_t length) {
  return (length - 1) % kConv2dSegment + 1;
}

/// The filter cut into segments of its rows, the first segment of each row first. What fills up the last ones is never
/// multiplied.
[[nodiscard]] inline std::vector<double> conv2d_in_segments(const std::vector<double>& filter, std::int64_t rows,
                                                            std::int64_t columns) {
  std::vector<double> weights(static_cast<std::size_t>(conv2d_segments(columns) * rows * kConv2dSegment));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      weights[static_cast<std::size_t>((j / kConv2dSegment * rows + i) * kConv2dSegment + j % kConv2dSegment)] =
          filter[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return weights;
}

/// Pixels of a row that each of 32 threads fetches: at least 5 of 6 under 128 outputs.
[[nodiscard]] inline std::int64_t conv2d_fetched(std::int64_t outputs, std::int64_t filter_width) {
  return std::max(ceil_div(round_up(outputs + filter_width - 1, 4), 32), outputs / 32 + 1);
}

/// Numbers from one row in local memory to the next: as many as lie under `outputs`, in fours, and 4 free places after
/// each 32.
[[nodiscard]] inline std::int64_t conv2d_pitch(std::int64_t outputs, std::int64_t filter_width) {
  const std::int64_t last = round_up(outputs + filter_width - 1, 4) - 1;
  return last + last / 32 * 4 + 1;
}

/// The tile of register_tiled: 128 columns, 8 threads down with `rows` each.
struct Conv2dRegisterTile {
  static constexpr std::int64_t kColumns = 128;
  static constexpr std::int64_t kThreadsDown = 8;
  static constexpr std::int64_t kThreads = kColumns / 8 * kThreadsDown;
  static constexpr std::int64_t kBand = 16;  ///< rows of the filter whose pixels are in local memory at a time, at most
  /// The tunable tile_rows: 1, 2 or 4 rows a thread.
  static constexpr std::array<std::int64_t, 3> kRows{8, 16, 32};

  /// Of local memory, for `rows` of the tile.
  [[nodiscard]] static std::int64_t bytes(const Conv2d& problem, std::int64_t rows) {
    const std::int64_t band = ceil_div(problem.filter_height, ceil_div(problem.filter_height, kBand));
    return 4 * ((rows + band - 1) * conv2d_pitch(kColumns, problem.filter_width) +
                conv2d_segments(problem.filter_width) * band * kConv2dSegment);
  }
  /// The rows of a tile that take the least time on so many compute units: all groups of one unit after another, a
  /// product of fewer rows a thread the dearer, because more is loaded for it.
  [[nodiscard]] static std::int64_t preferred(const Conv2d& problem, std::int64_t compute_units) {
    constexpr std::array<double, 3> kOfProduct{1.6, 1.2, 1};
    std::int64_t best = kRows.back();
    double least = 0;
    for (std::size_t i = kRows.size(); i-- > 0;) {
      const std::int64_t groups =
          ceil_div(problem.output_width(), kColumns) * ceil_div(problem.output_height(), kRows[i]) * problem.batch;
      const double time =
          static_cast<double>(ceil_div(groups, std::max<std::int64_t>(compute_units, 1)) * kRows[i]) * kOfProduct[i];
      if (least == 0 || time < least) best = kRows[i];
      if (least == 0 || time < least) least = time;
    }
    return best;
  }
};

/// The march of separable_passes: strips of `columns`, one thread each, in steps of 16 rows.
struct Conv2dPasses {
  static constexpr std::int64_t kStep = 16;
  /// The tunable rows_per_run.
  static constexpr std::array<std::int64_t, 8> kRows{16, 32, 64, 96, 128, 160, 208, 256};

  /// Of local memory.
  [[nodiscard]] static std::int64_t bytes(const Conv2d& problem, std::int64_t columns) {
    const std::int64_t ring = round_up(problem.filter_height - 1 + kStep, kConv2dSegment);
    const std::int64_t weights = conv2d_segments(problem.filter_height) + conv2d_segments(problem.filter_width);
    return 4 * (kStep * conv2d_pitch(columns, problem.filter_width) + ring * conv2d_pitch(columns, 1) +
                weights * kConv2dSegment);
  }
  /// Rows of a run such that the steps of all groups together take the least time, where `at_once` groups run at a
  /// time: each run begins with the filter's rows less one, and waits a little before its first pixels are there.
  [[nodiscard]] static std::int64_t preferred(const Conv2d& problem, std::int64_t columns, std::int64_t at_once) {
    std::int64_t best = kRows.front();
    std::int64_t least = 0;
    for (const std::int64_t rows : kRows) {
      const std::int64_t groups =
          ceil_div(problem.output_width(), columns) * ceil_div(problem.output_height(), rows) * problem.batch;
      const std::int64_t steps = ceil_div(rows, kStep) + ceil_div(problem.filter_height - 1, kStep) + 1;
      const std::int64_t time = ceil_div(groups, std::max<std::int64_t>(at_once, 1)) * steps;
      if (least == 0 || time < least) best = rows;
      if (least == 0 || time < least) least = time;
    }
    return best;
  }
};

/// The weights of separable_passes: the column in segments, then the row.
[[nodiscard]] inline std::vector<double> conv2d_passes_weights(const FilterFactors& factors) {
  const auto column = static_cast<std::int64_t>(factors.column.size());
  const auto row = static_cast<std::int64_t>(factors.row.size());
  std::vector<double> weights = conv2d_in_segments(factors.column, 1, column);
  const std::vector<double> of_row = conv2d_in_segments(factors.row, 1, row);
  weights.insert(weights.end(), of_row.begin(), of_row.end());
  return weights;
}

}  // namespace tessera::mathematics
