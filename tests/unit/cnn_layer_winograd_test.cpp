// Winograd's algorithm as all backends share it: its matrices in double against direct sums, and its bound's numbers.
#include "backend/cnn_layer_winograd.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::backend {
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

TEST(CnnLayerWinogradTest, MatricesCorrelate) {
  expect_correlation<4, 5>();
  expect_correlation<2, 5>();
  expect_correlation<4, 3>();
}

TEST(CnnLayerWinogradTest, FloatHoldsTheMatricesOfPixelsAndSums) {
  for (const auto& row : kWinogradMatrices<4, 5>.input) {
    for (const Fraction& entry : row) EXPECT_EQ(static_cast<double>(static_cast<float>(entry.value())), entry.value());
  }
  for (const auto& row : kWinogradMatrices<4, 3>.input) {
    for (const Fraction& entry : row) EXPECT_EQ(static_cast<double>(static_cast<float>(entry.value())), entry.value());
  }
}

TEST(CnnLayerWinogradTest, AccuracyDecidesByTheBound) {
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

}  // namespace
}  // namespace tessera::backend
