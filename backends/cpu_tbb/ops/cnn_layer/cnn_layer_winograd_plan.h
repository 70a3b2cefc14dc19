// How the variant "winograd" cuts a layer into blocks of tiles, and where things lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/cnn_layer/cnn_layer_planes.h"

namespace tessera::cpu_tbb {

/// Tiles of a chunk: two slivers of 32 for each panel of weights, and a second-level cache's worth of M for 64
/// channels.
inline constexpr std::int64_t kWinogradMostTiles = 64;
/// Tiles that a chunk costs beside its own: reading the weights and packing pixels around the block.
inline constexpr std::int64_t kWinogradTilesForWeights = 8;

inline constexpr std::int64_t kWinogradLine = 64;

/// What the transforms of a tile cost for each channel, in products. Counted, not measured.
struct WinogradCosts {
  std::int64_t of_input;
  std::int64_t of_output;
};
[[nodiscard]] inline WinogradCosts winograd_costs(const CnnLayer& p, std::int64_t outputs) {
  if (p.filter_height == 3) return {340, 200};
  return outputs == 4 ? WinogradCosts{700, 400} : WinogradCosts{300, 130};
}
[[nodiscard]] inline std::int64_t winograd_transforms(const CnnLayer& p, std::int64_t outputs) {
  const WinogradCosts costs = winograd_costs(p, outputs);
  return costs.of_input * p.input_channels + costs.of_output * p.output_channels;
}

template <class T>
class WinogradPlan {
 public:
  WinogradPlan(const CnnLayer& problem, std::int64_t outputs)
      : problem_(problem),
        outputs_(outputs),
        taps_(problem.filter_height),
        lanes_(register_tile<T>().columns / 2),
        layout_(problem.output_channels, problem.input_channels),
        limit_(mathematics::cnn_layer_winograd_limit(problem, outputs)) {
    choose();
  }
  [[nodiscard]] const CnnLayer& problem() const noexcept { return problem_; }
  [[nodiscard]] std::int64_t outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::int64_t taps() const noexcept { return taps_; }
  [[nodiscard]] std::int64_t size() const noexcept { return outputs_ + taps_ - 1; }
  /// Of a vector.
  [[nodiscard]] std::int64_t lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::int64_t matrices() const noexcept { return size() * size(); }
  [[nodiscard]] const CnnBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const PanelLayout<T>& layout() const noexcept { return layout_; }
  /// From which on sums are in doubt.
  [[nodiscard]] double limit() const noexcept { return limit_; }
  [[nodiscard]] std::int64_t raw_size() const noexcept {
    return problem_.output_channels * problem_.input_channels * taps_ * taps_;
  }
  /// Tiles as patches, for a block of so many sums.
  [[nodiscard]] PatchGrid grid(std::int64_t sum_rows, std::int64_t sum_columns) const noexcept {
    return {mathematics::ceil_div(sum_rows, outputs_), mathematics::ceil_div(sum_columns, outputs_), outputs_, size(),
            size()};
  }
  /// Of a block that no edge cuts.
  [[nodiscard]] PatchGrid largest_grid() const noexcept {
    return grid(CnnBlocks::sums(problem_, blocks_.rows), CnnBlocks::sums(problem_, blocks_.columns));
  }
  /// Elements from one channel's tiles to the next.
  [[nodiscard]] std::int64_t tiles_step(const PatchGrid& grid) const noexcept {
    return mathematics::round_up(grid.rows * grid.columns, lanes_);
  }
  /// Elements from one matrix of V or M to the next. Were it a power of two, as products of channels and tiles often
  /// are, all matrices' elements of one tile would fight for the same few lines of the first-level cache.
  [[nodiscard]] std::int64_t matrix_step(const PatchGrid& grid, std::int64_t channels) const noexcept {
    return channels * tiles_step(grid) + kWinogradLine / static_cast<std::int64_t>(sizeof(T));
  }
  /// Elements from one row of sums to the next.
  [[nodiscard]] std::int64_t sums_step(const PatchGrid& grid) const noexcept {
    return mathematics::round_up(grid.columns, lanes_) * outputs_;
  }

 private:
  /// The blocks that take the least time: products go by tiles in whole vectors, transforms by rows of them.
  void choose() {
    const CnnLayer& p = problem_;
    const double transforms = static_cast<double>(winograd_transforms(p, outputs_)) /
                              static_cast<double>(matrices() * p.input_channels * p.output_channels);
    double best = 0;
    for (std::int64_t columns = 1; columns <= p.output_width(); ++columns) {
      // Too wide for one row of outputs, and so is all that is wider: an image may have any number of columns.
      const PatchGrid row = grid(CnnBlocks::sums(p, 1), CnnBlocks::sums(p, columns));
      if (best > 0 && row.rows * row.columns > kWinogradMostTiles) break;
      for (std::int64_t rows = 1; rows <= p.output_height(); ++rows) {
        const PatchGrid tiles = grid(CnnBlocks::sums(p, rows), CnnBlocks::sums(p, columns));
        if (best > 0 && tiles.rows * tiles.columns > kWinogradMostTiles) break;
        const CnnBlocks blocks{rows, columns};
        const auto in_rows = static_cast<double>(tiles.rows * mathematics::round_up(tiles.columns, lanes_));
        const double cost = static_cast<double>(blocks.down(p) * blocks.across(p)) *
                            (static_cast<double>(tiles_step(tiles) + kWinogradTilesForWeights) + transforms * in_rows);
        if (best > 0 && cost >= best) continue;
        best = cost;
        blocks_ = blocks;
      }
    }
  }

  CnnLayer problem_;
  std::int64_t outputs_;
  std::int64_t taps_;
  std::int64_t lanes_;
  PanelLayout<T> layout_;
  double limit_;
  CnnBlocks blocks_;
};

}  // namespace tessera::cpu_tbb
