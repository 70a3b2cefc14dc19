// Winograd's algorithm for cnn_layer with its products by fp16 tensor cores: what their roundings and their scaling
// count in its bound (docs/decisions/0026), on any backend.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/gemm_split_bound.h"

namespace tessera::mathematics {

/// In one direction: the most that the transform of pixels makes of a patch whose largest is 1, and the most that the
/// transform back makes of products whose factors are that of pixels off by 1 and of weights that are 1.
struct WinogradGrowth {
  double of_pixels = 0;
  double of_products = 0;
};
template <int kOutputs, int kTaps>
[[nodiscard]] constexpr WinogradGrowth cnn_layer_winograd_growth() {
  constexpr auto& matrices = kWinogradMatrices<kOutputs, kTaps>;
  constexpr int n = matrices.kSize;
  WinogradGrowth growth;
  for (const auto& row : matrices.input) {
    double sum = 0;
    for (const auto& number : row) sum += number.magnitude().value();
    growth.of_pixels = std::max(growth.of_pixels, sum);
  }
  for (const auto& row : matrices.output) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      double of_weights = 0;
      for (const auto& number : matrices.filter[i]) of_weights += number.magnitude().value();
      sum += row[i].magnitude().value() * of_weights;
    }
    growth.of_products = std::max(growth.of_products, sum);
  }
  return growth;
}
[[nodiscard]] inline WinogradGrowth cnn_layer_winograd_growth(std::int64_t outputs, std::int64_t taps) {
  return taps == 3      ? cnn_layer_winograd_growth<4, 3>()
         : outputs == 6 ? cnn_layer_winograd_growth<6, 5>()
         : outputs == 4 ? cnn_layer_winograd_growth<4, 5>()
                        : cnn_layer_winograd_growth<2, 5>();
}
/// In both directions.
[[nodiscard]] inline WinogradGrowth cnn_layer_winograd_growth(const CnnLayer& problem, WinogradTileShape tile) {
  const WinogradGrowth y = cnn_layer_winograd_growth(tile.outputs_y, problem.filter_height);
  const WinogradGrowth x = cnn_layer_winograd_growth(tile.outputs_x, problem.filter_height);
  return {y.of_pixels * x.of_pixels, y.of_products * x.of_products};
}

/// A transformed pixel is less than 2^this times the largest of its patch.
[[nodiscard]] inline int cnn_layer_winograd_growth_power(const CnnLayer& problem, WinogradTileShape tile) {
  return static_cast<int>(std::ceil(std::log2(cnn_layer_winograd_growth(problem, tile).of_pixels)));
}

/// Roundings of a sum over the channels: as gemm's split counts them, and one for small numbers of weights, which lose
/// what is below 2^-39 of the largest of their point. `panel_depth`: see gemm_split_roundings().
[[nodiscard]] inline double cnn_layer_winograd_split_roundings(const CnnLayer& problem, std::int64_t panel_depth) {
  return gemm_split_roundings(static_cast<double>(problem.input_channels), GemmSplitKind::split, panel_depth) + 1;
}

/// The same where each panel's products are added to the sums of a column of outputs, one point of the column after the
/// other, in place of a sum over panels for each point and one over the column's points.
[[nodiscard]] inline double cnn_layer_winograd_split_down_roundings(const CnnLayer& problem, std::int64_t panel_depth) {
  const auto panels = static_cast<double>((problem.input_channels + panel_depth - 1) / panel_depth);
  const auto points = static_cast<double>(problem.filter_height + 3);  // of the largest tile
  return cnn_layer_winograd_split_roundings(problem, panel_depth) + std::max(0.0, points * panels - (panels + points));
}

/// What the largest magnitude M of a patch counts in a sum's doubt. With G = growth.of_pixels the tile's power of two
/// brings M G to between 2^12 and 2^14, and fp16 keeps a transformed pixel to 2^-25 of such numbers: to 2^-37 M G, for
/// each channel. Doubt counts roundings of float32, of which an output has so many. `of_sums`: of these, those of a
/// sum.
[[nodiscard]] inline double cnn_layer_winograd_doubt_of_largest(const CnnLayer& problem, WinogradTileShape tile,
                                                                double of_sums) {
  const WinogradGrowth growth = cnn_layer_winograd_growth(problem, tile);
  const auto channels = static_cast<double>(problem.input_channels);
  const double direct = channels * static_cast<double>(problem.filter_height * problem.filter_width);
  const double roundings = cnn_layer_winograd_roundings(problem, tile, of_sums) * direct;
  return channels * 0x1p-25 * 0x1p-12 * growth.of_pixels * growth.of_products / (roundings * 0x1p-24);
}

}  // namespace tessera::mathematics
