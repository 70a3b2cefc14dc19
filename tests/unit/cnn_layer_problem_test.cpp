// cnn_layer in the front half: what a correct problem is, which operands it takes, and how prepared weights are made
// and checked.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <utility>

#include "expect_error.h"

namespace tessera {
namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

CnnLayer layer_of(std::int64_t size, std::int64_t filter) {
  return {.input_channels = 2,
          .output_channels = 3,
          .height = size,
          .width = size,
          .filter_height = filter,
          .filter_width = filter};
}

TEST(CnnLayerProblemTest, impossible_geometry_is_refused_with_the_arithmetic) {
  const Device device = open("minimal:0");
  const auto make = [&](CnnLayer problem, auto change) {
    change(problem);
    (void)device.kernel(problem);
  };
  EXPECT_ERROR(make(layer_of(4, 7), [](CnnLayer& p) { p.padding = 1; }), kWrong, "height of cnn_layer is 4",
               "4 + 2 * 1 = 6 rows", "filter_height is 7");
  EXPECT_ERROR(make(layer_of(9, 3), [](CnnLayer& p) { p.width = 2; }), kWrong, "width of cnn_layer is 2", "columns",
               "filter_width is 3");
  EXPECT_ERROR(make(layer_of(6, 5), [](CnnLayer& p) { p.pool_size = 3; }), kWrong, "(6 + 2 * 0 - 5) / 1 + 1 = 2 rows",
               "pool_size is 3");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.pool_size = 4; }), kWrong, "pool_size of cnn_layer is 4",
               "2 or 3");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.pool_stride = 2; }), kWrong, "pool_stride of cnn_layer is 2",
               "without a pool");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.stride = 0; }), kWrong, "stride of cnn_layer is 0",
               "at least 1");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.padding = -1; }), kWrong, "padding of cnn_layer is -1");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.padding = INT64_MAX / 2 + 1; }), kWrong, "padding", "passes");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.batch = -2; }), kWrong, "batch of cnn_layer is -2");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.input_channels = 0; }), kWrong, "input_channels", "at least 1");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.batch = INT64_MAX / 8; }), kWrong, "operand input", "passes");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.output_channels = INT64_MAX / 8; }), kWrong, "operand weights");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.stride = INT64_MAX; }), kWrong, "stride of cnn_layer is 9223",
               "at most 281474976710656");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.pool_size = 2, p.pool_stride = INT64_MAX; }), kWrong,
               "pool_stride of cnn_layer is 9223", "at most 281474976710656");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.batch = 0, p.height = INT64_MAX; }), kWrong, "operand input",
               "281474976710656 bytes");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.padding = p.stride = std::int64_t{1} << 40; }), kWrong,
               "operand input with its padding", "281474976710656 bytes");
  EXPECT_ERROR(make(layer_of(6, 3), [](CnnLayer& p) { p.type = DataType::int32; }), kWrong, "int32",
               "float32 or float64");
}

TEST(CnnLayerProblemTest, pool_stride_is_filled_in) {
  const Device device = open("minimal:0");
  CnnLayer problem = layer_of(8, 3);
  EXPECT_EQ(device.kernel(problem).problem().pool_stride, 1);
  problem.pool_size = 3;
  EXPECT_EQ(device.kernel(problem).problem().pool_stride, 3);
  EXPECT_EQ(problem.output_height(), 2);
}

/// Operands of 3 x 3 filters over two channels, all ones: every sum is 18, and the bias 4.
class CnnLayerRunTest : public ::testing::Test {
 protected:
  [[nodiscard]] OperatorKernel<CnnLayer> make(const char* variant, std::int64_t height = 4) const {
    CnnLayer problem = layer_of(4, 3);
    problem.height = height;
    return device_.kernel(problem, {.variant = variant, .label = std::string(variant) + " label"});
  }
  [[nodiscard]] std::vector<float> outputs() { return queue_.download(output_).get(); }

  Device device_ = open("minimal:0");
  Buffer<float> input_ = device_.upload<float>(std::vector<float>(32, 1));
  Buffer<float> weights_ = device_.upload<float>(std::vector<float>(54, 1));
  Buffer<float> bias_ = device_.upload<float>(std::vector<float>(3, 4));
  Buffer<float> output_ = device_.allocate<float>(12);
  Queue queue_{device_};
};

TEST_F(CnnLayerRunTest, raw_and_prepared_weights_give_the_same) {
  for (const char* const variant : {"naive", "turned"}) {
    const auto kernel = make(variant);
    queue_.fill(output_, 0);
    queue_.run(kernel, {.input = input_, .weights = weights_, .bias = bias_, .output = output_});
    EXPECT_EQ(outputs(), std::vector<float>(12, 22)) << variant;
    const auto weights = device_.upload<float>(std::vector<float>(54, 1));
    const PreparedWeights prepared = queue_.prepare_weights(kernel, weights);
    EXPECT_EQ(prepared.size_bytes(), 54 * sizeof(float));
    queue_.fill(weights, 7);  // prepared weights are not the raw ones any more
    queue_.fill(output_, 0);
    queue_.run(make(variant), {.input = input_, .weights = prepared, .bias = bias_, .output = output_});
    EXPECT_EQ(outputs(), std::vector<float>(12, 22)) << variant;
  }
}

TEST_F(CnnLayerRunTest, room_for_preparation_is_the_queues_workspace) {
  const auto kernel = make("turned");
  EXPECT_EQ(kernel.info().workspace_bytes, 0U);
  EXPECT_EQ(kernel.info().prepared_bytes, 54 * sizeof(float));
  EXPECT_EQ(make("naive").info().prepared_bytes, 0U);
  const std::uint64_t before = device_.memory().in_use_bytes;
  const PreparedWeights prepared = queue_.prepare_weights(kernel, weights_);
  const std::uint64_t with_prepared = before + prepared.size_bytes();
  EXPECT_EQ(device_.memory().in_use_bytes, with_prepared);
  queue_.run(kernel, {.input = input_, .weights = prepared, .bias = bias_, .output = output_});
  EXPECT_EQ(device_.memory().in_use_bytes, with_prepared);
  queue_.run(kernel, {.input = input_, .weights = weights_, .bias = bias_, .output = output_});
  EXPECT_GE(device_.memory().in_use_bytes, with_prepared + kernel.info().prepared_bytes);
}

TEST_F(CnnLayerRunTest, weights_prepared_for_another_kernel_are_refused) {
  const auto naive = make("naive");
  const auto turned = make("turned");
  const PreparedWeights prepared = queue_.prepare_weights(turned, weights_);
  const auto run = [&](const OperatorKernel<CnnLayer>& kernel, const WeightsOperand& weights) {
    queue_.run(kernel, {.input = input_, .weights = weights, .bias = bias_, .output = output_});
  };
  EXPECT_ERROR(run(naive, prepared), kWrong, "weights", "cnn_layer (turned) 'turned label' on minimal:0",
               "cnn_layer (naive) 'naive label' on minimal:0");
  EXPECT_ERROR(run(make("turned", 3), prepared), kWrong, "h=4", "h=3");
  const Device again = open("minimal:0");
  const auto elsewhere = again.upload<float>(std::vector<float>(54, 1));
  Queue other(again);
  const PreparedWeights of_again =
      other.prepare_weights(again.kernel(turned.problem(), {.variant = "turned"}), elsewhere);
  EXPECT_ERROR(run(turned, of_again), kWrong, "opened another time");
  PreparedWeights moved = queue_.prepare_weights(turned, weights_);
  const PreparedWeights taken = std::move(moved);
  EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
  EXPECT_ERROR(run(turned, moved), kWrong, "operand weights", "holds nothing");
  run(turned, taken);
  EXPECT_EQ(outputs(), std::vector<float>(12, 22));
}

TEST_F(CnnLayerRunTest, operands_are_checked_before_anything_is_queued) {
  const auto kernel = make("turned");
  const auto small = device_.allocate<float>(2);
  const auto doubles = device_.allocate<double>(54);
  EXPECT_ERROR(queue_.run(kernel, {.input = small, .weights = weights_, .bias = bias_, .output = output_}), kWrong,
               "operand input", "2 elements", "32");
  EXPECT_ERROR(queue_.run(kernel, {.input = input_, .weights = doubles, .bias = bias_, .output = output_}), kWrong,
               "operand weights", "float64");
  EXPECT_ERROR(queue_.run(kernel, {.input = input_, .weights = weights_, .bias = {}, .output = output_}), kWrong,
               "operand bias", "holds nothing");
  EXPECT_ERROR(queue_.run(kernel, {.input = input_, .weights = weights_, .bias = bias_, .output = input_}), kWrong,
               "operand output", "overlaps operand input");
  EXPECT_ERROR((void)queue_.prepare_weights(kernel, small), kWrong, "operand weights", "54");
  EXPECT_ERROR((void)queue_.prepare_weights(kernel, {}), kWrong, "operand weights", "holds nothing");
  CnnLayer no_bias = layer_of(4, 3);
  no_bias.bias = false;
  const auto without = device_.kernel(no_bias);
  EXPECT_ERROR(queue_.run(without, {.input = input_, .weights = weights_, .bias = bias_, .output = output_}), kWrong,
               "operand bias", "the problem has no bias");
  queue_.run(without, {.input = input_, .weights = weights_, .bias = {}, .output = output_});
  EXPECT_EQ(outputs(), std::vector<float>(12, 18));
}

}  // namespace
}  // namespace tessera
