// cnn_layer, winograd on GPUs: which layers it is taken for. The times are those of the files
// benchmarks/results/h200-2026-11-27-cnn_layer-random.json and, of commit 25efc4f3,
// benchmarks/results/h100-2026-11-27-cnn_layer-random-both.json; that of today has other problems.
#include "mathematics/cnn_layer_winograd_savings.h"

#include <gtest/gtest.h>

namespace tessera::mathematics {
namespace {

CnnLayer layer_of(std::int64_t channels, std::int64_t outputs, std::int64_t height, std::int64_t width,
                  std::int64_t filter) {
  CnnLayer layer;
  layer.input_channels = channels;
  layer.output_channels = outputs;
  layer.height = height;
  layer.width = width;
  layer.filter_height = layer.filter_width = filter;
  layer.padding = filter / 2;
  return layer;
}
bool pays(const CnnLayer& layer, double least_products) {
  return why_winograd_saves_too_little(layer, 4, least_products).empty();
}

TEST(CnnLayerWinogradSavingsTest, counts_the_outputs_that_implicit_gemm_multiplies_for) {
  EXPECT_TRUE(pays(layer_of(47, 2, 155, 491, 5), 420e6));  // 102 us, implicit_gemm_local 200
  EXPECT_TRUE(pays(layer_of(191, 26, 58, 21, 5), 175e6));  // 16.5 us, implicit_gemm 28.7
}

TEST(CnnLayerWinogradSavingsTest, leaves_small_layers_and_those_of_few_inputs) {
  EXPECT_FALSE(pays(layer_of(64, 64, 56, 56, 3), 210e6));  // 17 us, 13
  EXPECT_FALSE(pays(layer_of(11, 9, 78, 238, 5), 175e6));  // 32.8 us, 27.7, without a file
  EXPECT_FALSE(pays(layer_of(16, 64, 550, 550, 3), 210e6));
  // Of the same products, the more pixels are transformed: 19 us, 25; and 21, 16.
  CnnLayer few_pixels = layer_of(256, 256, 14, 14, 3);
  CnnLayer many_pixels = layer_of(64, 64, 56, 56, 3);
  few_pixels.batch = many_pixels.batch = 2;
  EXPECT_EQ(why_winograd_saves_too_little(few_pixels, 4, 170e6, 90), "");
  EXPECT_NE(why_winograd_saves_too_little(many_pixels, 4, 170e6, 90), "");
  // Through OpenCL by winograd_split and implicit_gemm_local (an H200, without a file): on two images 22 us and 28; and
  // 26 and 28, with so few products that launches decide.
  CnnLayer two_images = layer_of(128, 128, 28, 28, 3);
  two_images.batch = 2;
  EXPECT_EQ(why_winograd_saves_too_little(two_images, 4, 170e6, 90), "");
  EXPECT_NE(why_winograd_saves_too_little(layer_of(384, 256, 13, 13, 3), 4, 170e6, 90), "");
  CnnLayer nothing = layer_of(256, 256, 228, 228, 5);
  nothing.batch = 0;
  EXPECT_FALSE(pays(nothing, 175e6));
}

}  // namespace
}  // namespace tessera::mathematics
