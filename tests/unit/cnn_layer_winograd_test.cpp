// Winograd's algorithm as all backends share it: its matrices in double against direct sums, and its bound's numbers.
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/cnn_layer_winograd_split.h"
#include "mathematics/gemm_split_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace tessera::mathematics {
namespace {

/// One row of outputs by the algorithm, in one direction.
template <int kOutputs, int kTaps>
void expect_correlation() {
  constexpr auto kMatrices = kWinogradMatrices<kOutputs, kTaps>;
  constexpr int kSize = kOutputs + kTaps - 1;
  for (int o = 0; o < kOutputs; ++o) {
    double by_products = 0;
    double direct = 0;
    for (int i = 0; i < kSize; ++i) {
      double pixels = 0;
      double weights = 0;
      for (int k = 0; k < kSize; ++k) pixels += kMatrices.input[i][k].value() * (3 * k * k - 7);
      for (int k = 0; k < kTaps; ++k) weights += kMatrices.filter[i][k].value() * (k + 0.5);
      by_products += kMatrices.output[o][i].value() * weights * pixels;
    }
    for (int k = 0; k < kTaps; ++k) direct += (k + 0.5) * (3 * (o + k) * (o + k) - 7);
    EXPECT_NEAR(by_products, direct, 1e-10);
  }
}

TEST(CnnLayerWinogradTest, matrices_correlate) {
  expect_correlation<4, 5>();
  expect_correlation<2, 5>();
  expect_correlation<4, 3>();
  expect_correlation<6, 5>();
}

template <int kOutputs, int kTaps>
void expect_floats() {
  const auto expect_rows = [](const auto& matrix) {
    for (const auto& row : matrix) {
      for (const Fraction& entry : row)
        EXPECT_EQ(static_cast<double>(static_cast<float>(entry.value())), entry.value());
    }
  };
  expect_rows(kWinogradMatrices<kOutputs, kTaps>.input);
  expect_rows(kWinogradMatrices<kOutputs, kTaps>.output);
}

TEST(CnnLayerWinogradTest, float_holds_the_matrices_of_pixels_and_sums) {
  expect_floats<4, 5>();
  expect_floats<2, 5>();
  expect_floats<4, 3>();
  expect_floats<6, 5>();
}

TEST(CnnLayerWinogradTest, rows_of_whole_numbers_come_to_sums_alike) {
  for (const auto& row : kWinogradMatrices<6, 5>.input) {
    double sum = 0;
    for (const Fraction& entry : row) sum += entry.magnitude().value();
    EXPECT_GT(sum, 8);
    EXPECT_LE(sum, 16);
  }
}

/// The share of one direction in E / W of output (0, 0), for pixels of one size, `padding` rows or columns of the patch
/// being zeros.
template <int kOutputs, int kTaps>
double even_ratio(int padding) {
  constexpr auto kGrowth = kWinogradMatrices<kOutputs, kTaps>.growth();
  double felt = 0;
  for (std::size_t pixel = static_cast<std::size_t>(padding); pixel < kGrowth[0].size(); ++pixel)
    felt += kGrowth[0][pixel].value();
  return felt / (kTaps - padding);
}

TEST(CnnLayerWinogradTest, an_output_feels_its_window) {
  constexpr auto kGrowth = kWinogradMatrices<4, 5>.growth();
  constexpr auto kWindows = kWinogradMatrices<4, 5>.windows();
  for (std::size_t o = 0; o < kGrowth.size(); ++o) {
    for (std::size_t pixel = 0; pixel < kGrowth[o].size(); ++pixel) {
      const bool is_inside = pixel >= o && pixel < o + 5;
      EXPECT_EQ(kWindows[o][pixel].value(), is_inside ? 1 : 0);
      EXPECT_GE(kGrowth[o][pixel].value(), is_inside ? 1 : 0) << "the weight's own way to its output";
    }
  }
  const double of_3 = even_ratio<4, 3>(0), of_2 = even_ratio<2, 5>(0), of_4 = even_ratio<4, 5>(0);
  EXPECT_NEAR(of_3 * of_3, 97.35, 0.01);
  EXPECT_NEAR(of_2 * of_2, 71.46, 0.01);
  EXPECT_NEAR(of_4 * of_4, 301.2, 0.1);
  EXPECT_NEAR((of_4 * even_ratio<6, 5>(0)), 876.8, 0.1);
}

/// By outputs, the largest sum over any set of places i of |output(o, i)| filter(i) x input(i), squared, for each
/// weight and pixel, or the sum of the squares of all places where that is more: how the mean square of random numbers
/// grows.
template <int kOutputs, int kTaps>
std::array<double, kOutputs> growth_of_mean_square() {
  constexpr auto& kMatrices = kWinogradMatrices<kOutputs, kTaps>;
  constexpr std::size_t kSize = kOutputs + kTaps - 1;
  const auto product_of = [](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].value() * b[i].value();
    return sum;
  };
  std::array<double, kOutputs> largest{};
  for (std::size_t o = 0; o < kOutputs; ++o) {
    std::array<std::array<double, kSize>, kSize> together{};
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        together[i][j] = kMatrices.output[o][i].value() * kMatrices.output[o][j].value() *
                         product_of(kMatrices.filter[i], kMatrices.filter[j]) *
                         product_of(kMatrices.input[i], kMatrices.input[j]);
      }
      largest[o] += together[i][i] / kTaps;
    }
    for (unsigned places = 0; places < 1U << kSize; ++places) {
      double partial = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        for (std::size_t j = 0; j < kSize; ++j) {
          if ((places >> i & places >> j & 1U) != 0) partial += together[i][j];
        }
      }
      largest[o] = std::max(largest[o], partial / kTaps);
    }
  }
  return largest;
}

template <int kOutputs, int kTaps>
void expect_growth_below_amplification(double largest) {
  const auto growth = growth_of_mean_square<kOutputs, kTaps>();
  EXPECT_NEAR(*std::max_element(growth.begin(), growth.end()), largest, 0.01);
  EXPECT_LT(largest, (kWinogradMatrices<kOutputs, kTaps>.amplification()));
}

TEST(CnnLayerWinogradTest, random_errors_grow_by_less_than_the_root_of_the_factor_says) {
  expect_growth_below_amplification<4, 5>(29.75);
  expect_growth_below_amplification<4, 3>(10.44);
  expect_growth_below_amplification<2, 5>(7.78);
}

/// Of six outputs the first and the last feel more than that, but not the mean of both directions over what an image
/// has of a tile, unless that is one output.
TEST(CnnLayerWinogradTest, random_errors_of_six_outputs_grow_by_less_in_the_mean) {
  const auto of_rows = growth_of_mean_square<4, 5>();
  const auto of_columns = growth_of_mean_square<6, 5>();
  EXPECT_NEAR(of_columns.front(), 221.34, 0.01);
  EXPECT_NEAR(of_columns.back(), 221.34, 0.01);
  const double admitted = kWinogradMatrices<4, 5>.amplification() * kWinogradMatrices<6, 5>.amplification();
  const auto mean_of = [](const auto& growth, int count) {
    return std::accumulate(growth.begin(), growth.begin() + count, 0.0) / count;
  };
  EXPECT_NEAR(mean_of(of_columns, 6), 95.43, 0.01);
  for (int rows = 1; rows <= 4; ++rows) {
    for (int columns = 1; columns <= 6; ++columns) {
      if (rows * columns == 1) continue;
      EXPECT_LT(mean_of(of_rows, rows) * mean_of(of_columns, columns), admitted);
    }
  }
}

template <int kOutputsY, int kOutputsX, int kTaps>
void expect_room_for_ordinary_pixels() {
  constexpr WinogradTileShape kTile(kOutputsY, kOutputsX);
  const auto even_ratio_of = [](int padding) {
    return even_ratio<kOutputsY, kTaps>(padding) * even_ratio<kOutputsX, kTaps>(padding);
  };
  for (const std::int64_t channels : {1, 3, 9, 32, 64, 256, 2048, 16384}) {
    CnnLayer layer{.input_channels = channels,
                   .output_channels = 1,
                   .height = 9,
                   .width = 9,
                   .filter_height = kTaps,
                   .filter_width = kTaps,
                   .accuracy = Accuracy::fast};
    for (const DataType type : {DataType::float32, DataType::float64}) {
      layer.type = type;
      const double limit = cnn_layer_winograd_limit(layer, kTile);
      const double amplification =
          kWinogradMatrices<kOutputsY, kTaps>.amplification() * kWinogradMatrices<kOutputsX, kTaps>.amplification();
      // Twice what pixels of one size come to, with as much padding as keeps the image's size in a corner too.
      EXPECT_GT(limit, 2 * even_ratio_of(0)) << channels;
      EXPECT_GT(limit, 1.3 * even_ratio_of(kTaps / 2)) << channels;
      // The promise: what a tile within the limit may be off by, as a multiple of its own window's bound.
      const double promised = limit * cnn_layer_winograd_roundings(layer, kTile);
      EXPECT_LE(promised, std::max(CnnLayer::kAccurateFactor, cnn_layer_winograd_factor(layer, kTile)));
      EXPECT_GT(promised, 0.98 * amplification * cnn_layer_winograd_roundings(layer, kTile));
    }
  }
}

TEST(CnnLayerWinogradTest, the_limit_keeps_the_promise_and_ordinary_pixels) {
  expect_room_for_ordinary_pixels<4, 4, 3>();
  expect_room_for_ordinary_pixels<2, 2, 5>();
  expect_room_for_ordinary_pixels<4, 4, 5>();
  expect_room_for_ordinary_pixels<4, 6, 5>();
  const CnnLayer layer{
      .input_channels = 64, .output_channels = 64, .height = 56, .width = 56, .filter_height = 3, .filter_width = 3};
  EXPECT_NEAR(cnn_layer_winograd_limit(layer, 4), 803, 1);
}

TEST(CnnLayerWinogradTest, accuracy_decides_by_the_bound) {
  CnnLayer layer{.input_channels = 256,
                 .output_channels = 256,
                 .height = 228,
                 .width = 228,
                 .filter_height = 5,
                 .filter_width = 5};
  EXPECT_NEAR((kWinogradMatrices<4, 5>.amplification()), 39.5556, 1e-4);
  EXPECT_NEAR((kWinogradMatrices<2, 5>.amplification()), 16.9333, 1e-4);
  EXPECT_NEAR((kWinogradMatrices<4, 3>.amplification()), 16.9333, 1e-4);
  EXPECT_TRUE(cnn_layer_winograd_check(layer, 4));
  EXPECT_TRUE(cnn_layer_winograd_check(layer, 2));
  EXPECT_GT(cnn_layer_winograd_factor(layer, 4), 60);
  EXPECT_LT(cnn_layer_winograd_factor(layer, 2), 20);
  layer.accuracy = Accuracy::strict;
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 2));
  layer.accuracy = Accuracy::accurate;
  layer.input_channels = 3;
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 4));
  EXPECT_NE(cnn_layer_winograd_check(layer, 4).because().find("3 input channels"), std::string::npos);
  layer.accuracy = Accuracy::fast;
  EXPECT_TRUE(cnn_layer_winograd_check(layer, 4));
  layer.stride = 2;
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 4));
  layer.stride = 1;
  layer.filter_height = layer.filter_width = 3;
  EXPECT_TRUE(cnn_layer_winograd_check(layer, 4));
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 2));
  layer.filter_width = 5;
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 4));
}

TEST(CnnLayerWinogradTest, tiles_of_four_rows_and_six_columns_want_many_channels) {
  EXPECT_NEAR((kWinogradMatrices<6, 5>.amplification()), 128.061, 1e-3);
  CnnLayer layer{.input_channels = 213,
                 .output_channels = 256,
                 .height = 228,
                 .width = 228,
                 .filter_height = 5,
                 .filter_width = 5};
  const auto shapes = [&] { return cnn_layer_winograd_shapes(layer, cnn_layer_winograd_split_roundings(layer, 64)); };
  ASSERT_EQ(shapes().size(), 3);
  EXPECT_EQ(shapes().front(), WinogradTileShape(4, 6));
  layer.input_channels = 212;
  ASSERT_EQ(shapes().size(), 2);
  EXPECT_EQ(shapes().front(), WinogradTileShape(4));
  layer.accuracy = Accuracy::fast;
  EXPECT_EQ(shapes().size(), 3);
  layer.filter_height = layer.filter_width = 3;
  EXPECT_EQ(shapes(), std::vector<WinogradTileShape>{WinogradTileShape(4)});
  EXPECT_EQ(cnn_layer_winograd_tiles(layer), std::vector<std::int64_t>{4});
}

TEST(CnnLayerWinogradTest, products_that_are_transformed_down_panel_by_panel_count_each_addition) {
  const auto more = [](std::int64_t channels, std::int64_t taps) {
    const CnnLayer layer{.input_channels = channels, .filter_height = taps, .filter_width = taps};
    return cnn_layer_winograd_split_down_roundings(layer, 64) - cnn_layer_winograd_split_roundings(layer, 64);
  };
  EXPECT_EQ(more(64, 5), 0);
  EXPECT_EQ(more(256, 5), 8 * 4 - (8 + 4));
  EXPECT_EQ(more(256, 3), 6 * 4 - (6 + 4));
}

TEST(CnnLayerWinogradTest, sums_that_are_not_added_up_one_by_one_count_as_they_say) {
  const CnnLayer layer{
      .input_channels = 256, .output_channels = 64, .height = 56, .width = 56, .filter_height = 3, .filter_width = 3};
  EXPECT_EQ(cnn_layer_winograd_factor(layer, 4, 256.0), cnn_layer_winograd_factor(layer, 4));
  EXPECT_LT(cnn_layer_winograd_factor(layer, 4, 94.0), cnn_layer_winograd_factor(layer, 4));
  EXPECT_GT(cnn_layer_winograd_limit(layer, 4, 94.0), cnn_layer_winograd_limit(layer, 4));
  EXPECT_FALSE(cnn_layer_winograd_check(layer, 4, 1e6));
  EXPECT_TRUE(cnn_layer_winograd_tiles(layer, 1e6).empty());
}

TEST(GemmSplitBoundTest, counts_products_panels_and_their_sums) {
  EXPECT_EQ(gemm_split_roundings(1, GemmSplitKind::split, 64), 13 + 4 + 1);
  EXPECT_EQ(gemm_split_roundings(64, GemmSplitKind::split, 64), 13 + 4 * 19 + 1);
  EXPECT_EQ(gemm_split_roundings(256, GemmSplitKind::split, 64), 13 + 4 * 19 + 4);
  EXPECT_EQ(gemm_split_roundings(256, GemmSplitKind::split, 16), 13 + 19 + 16);
  // Of 64 steps 16 lie in two instructions, 32 too, 40 in three and 48 in four.
  EXPECT_EQ(gemm_split_roundings(16, GemmSplitKind::split, 64), 13 + 16 + 2 * 3 + 1);
  EXPECT_EQ(gemm_split_roundings(32, GemmSplitKind::split, 64), 13 + 32 + 2 * 3 + 1);
  EXPECT_EQ(gemm_split_roundings(40, GemmSplitKind::split, 64), 13 + 40 + 3 * 3 + 1);
  EXPECT_EQ(gemm_split_roundings(48, GemmSplitKind::split, 64), 13 + 48 + 4 * 3 + 1);
  EXPECT_EQ(gemm_split_roundings(256, GemmSplitKind::scaled_half, 128), 16384 + 8 * 19 + 2);
  // From so many steps of k on split is no less exact than a sum in float32, by the bounds of both.
  EXPECT_GT(gemm_split_error_factor({.m = 1, .n = 1, .k = 121}, GemmSplitKind::split, 64), 1);
  EXPECT_EQ(gemm_split_error_factor({.m = 1, .n = 1, .k = 122}, GemmSplitKind::split, 64), 1);
}

}  // namespace
}  // namespace tessera::mathematics
