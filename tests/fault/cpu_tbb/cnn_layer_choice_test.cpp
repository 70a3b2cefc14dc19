// What cnn_layer's choice on the CPU says of Winograd's algorithm, and how it cuts layers for "implicit_gemm", also for
// threads that this machine may not have.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_plan.h"
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"

namespace tessera::fault {
namespace {

CnnLayer layer_of(std::int64_t inputs, std::int64_t outputs, std::int64_t side, std::int64_t filter,
                  std::int64_t images = 1) {
  CnnLayer layer;
  layer.batch = images;
  layer.input_channels = inputs;
  layer.output_channels = outputs;
  layer.height = layer.width = side;
  layer.filter_height = layer.filter_width = filter;
  layer.padding = filter / 2;
  layer.pool_stride = layer.pool_size;  // as it is once a problem was checked
  return layer;
}
/// Of a layer that winograd takes.
backend::Verdict verdict_of(const CnnLayer& layer, int threads) {
  if (mathematics::cnn_layer_winograd_tiles(layer).empty()) throw std::logic_error("winograd does not take this layer");
  return cpu_tbb::cnn_layer_winograd_pays(layer, threads);
}
bool pays(const CnnLayer& layer, int threads = 2) {
  return static_cast<bool>(verdict_of(layer, threads));
}

TEST(CnnLayerChoiceTest, winograd_is_for_many_channels_of_many_pixels) {
  EXPECT_TRUE(pays(layer_of(128, 128, 56, 3)));
  EXPECT_TRUE(pays(layer_of(256, 256, 56, 3, 2)));
  EXPECT_TRUE(pays(layer_of(128, 128, 64, 5)));
  EXPECT_TRUE(pays(layer_of(384, 256, 13, 3, 2)));  // 0.77 of the time of implicit_gemm
}

/// Times over those of implicit_gemm on two threads of an EPYC with AVX-512 (without a file).
TEST(CnnLayerChoiceTest, winograd_is_taken_where_it_was_faster_by_much) {
  EXPECT_TRUE(pays(layer_of(64, 64, 28, 5)));    // 0.51
  EXPECT_TRUE(pays(layer_of(55, 55, 24, 5)));    // 0.65, pooled
  EXPECT_TRUE(pays(layer_of(51, 11, 135, 5)));   // 0.72, pooled
  EXPECT_TRUE(pays(layer_of(21, 159, 103, 3)));  // 0.74
  EXPECT_FALSE(pays(layer_of(32, 64, 14, 5)));   // 1.21
  EXPECT_FALSE(pays(layer_of(20, 50, 12, 5)));   // 2.0
  EXPECT_FALSE(pays(layer_of(137, 13, 33, 3)));  // 2.1
  EXPECT_FALSE(pays(layer_of(151, 23, 14, 3)));  // 3.0, pooled
}

TEST(CnnLayerChoiceTest, small_layers_are_not_worth_meeting_three_times) {
  EXPECT_FALSE(pays(layer_of(12, 12, 28, 3)));
  EXPECT_FALSE(pays(layer_of(24, 24, 9, 3)));
  EXPECT_TRUE(pays(layer_of(64, 64, 90, 3)));
}

TEST(CnnLayerChoiceTest, weights_that_meet_few_tiles_are_waited_for) {
  EXPECT_FALSE(pays(layer_of(512, 512, 7, 3)));  // 1.95
  EXPECT_TRUE(pays(layer_of(512, 512, 28, 3, 4)));
}

TEST(CnnLayerChoiceTest, threads_do_not_meet_three_times_for_a_small_layer) {
  const CnnLayer small = layer_of(64, 64, 14, 3);
  const backend::Verdict verdict = verdict_of(small, 64);
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.because().find("64"), std::string::npos) << verdict.because();
}

TEST(CnnLayerChoiceTest, a_refusal_tells_both_costs) {
  const backend::Verdict verdict = verdict_of(layer_of(512, 512, 7, 3), 2);
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.because().find("from 512 to 512 channels at 7 x 7"), std::string::npos) << verdict.because();
  EXPECT_NE(verdict.because().find("direct sum"), std::string::npos) << verdict.because();
}

/// Images that a block of the layer has with so many threads.
std::int64_t images_together(const CnnLayer& layer, int threads = 2) {
  const cpu_tbb::ImplicitGemmPlan<float> plan(layer, cpu_tbb::Team{threads, 0});
  return plan.blocks().images;
}

TEST(CnnLayerChoiceTest, small_images_of_a_batch_are_computed_together) {
  EXPECT_GT(images_together(layer_of(512, 2048, 7, 1, 8)), 1);
  EXPECT_GT(images_together(layer_of(512, 512, 7, 3, 8)), 1);
  // Cases of the conformance tests.
  EXPECT_GT(images_together(layer_of(20, 40, 7, 1, 12)), 1);
  EXPECT_GT(images_together(layer_of(20, 200, 7, 3, 12)), 1);
  CnnLayer strided = layer_of(7, 33, 9, 5, 12);
  strided.stride = 2;
  EXPECT_GT(images_together(strided), 1);
  CnnLayer pooled = layer_of(9, 200, 7, 3, 12);
  pooled.pool_size = pooled.pool_stride = 2;
  EXPECT_GT(images_together(pooled), 1);
  EXPECT_EQ(images_together(layer_of(512, 2048, 7, 1)), 1);
  EXPECT_EQ(images_together(layer_of(64, 64, 56, 3, 8)), 1);
}

TEST(CnnLayerChoiceTest, no_cut_is_looked_for_without_images) {
  CnnLayer layer = layer_of(20, 40, 7, 3, 0);
  layer.height = std::int64_t{1} << 40;
  const cpu_tbb::ImplicitGemmPlan<float> plan(layer, cpu_tbb::Team{2, 0});
  EXPECT_EQ(plan.blocks().count(plan.problem()), 0);
}

TEST(CnnLayerChoiceTest, every_image_is_in_one_block) {
  const CnnLayer layer = layer_of(20, 40, 7, 1, 23);
  for (const int threads : {1, 2, 5, 16}) {
    const cpu_tbb::ImplicitGemmPlan<float> plan(layer, cpu_tbb::Team{threads, 0});
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < plan.blocks().count(plan.problem()); ++i) {
      const cpu_tbb::CnnBlock block = plan.blocks().block(plan.problem(), i);
      if (block.y != 0 || block.x != 0) continue;
      EXPECT_EQ(block.image, next);
      next += block.images;
    }
    EXPECT_EQ(next, layer.batch);
  }
}

}  // namespace
}  // namespace tessera::fault
