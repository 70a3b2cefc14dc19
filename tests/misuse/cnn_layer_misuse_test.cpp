// Wrong problems, operands and prepared weights of cnn_layer on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
const std::string kLargest = std::to_string(std::int64_t{1} << 48) + " bytes";

/// 3 -> 2 channels, 3 x 3 over 6 x 5, pooled to 2 x 1.
CnnLayer small_layer() {
  return {.input_channels = 3,
          .output_channels = 2,
          .height = 6,
          .width = 5,
          .filter_height = 3,
          .filter_width = 3,
          .pool_size = 2};
}

class CnnLayerMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(small_layer(), device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of cnn_layer";
    input_ = device().upload<float>(std::vector<float>(90, 1.0F));
    weights_ = device().upload<float>(std::vector<float>(54, 1.0F));
    bias_ = device().upload<float>(std::vector<float>(2, 0.5F));
    output_ = device().upload<float>(std::vector<float>(4, -3.0F));
  }
  void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
  }
  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const CnnLayer::Operands& operands, const std::vector<std::string>& parts) {
    Queue queue(device());
    const auto kernel = device().kernel(small_layer());
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(output_).get(), std::vector<float>(4, -3.0F)) << "a refused run wrote";
    queue.finish();
  }

  Buffer<float> input_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  Buffer<float> output_;
};
TESSERA_ON_EACH_DEVICE(CnnLayerMisuseTest);

TEST_P(CnnLayerMisuseTest, wrong_problems) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    CnnLayer problem = small_layer();
    change(problem);
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(problem, device())); }), parts);
  };
  refused([](CnnLayer& p) { p.filter_height = 7; }, {"6 + 2 * 0 = 6 rows", "filter_height is 7"});
  refused([](CnnLayer& p) { p.filter_width = 9, p.padding = 1; }, {"5 + 2 * 1 = 7 columns", "filter_width is 9"});
  refused([](CnnLayer& p) { p.stride = 4; }, {"(6 + 2 * 0 - 3) / 4 + 1 = 1 rows", "pool_size is 2"});
  refused([](CnnLayer& p) { p.pool_size = 5; }, {"pool_size of cnn_layer is 5"});
  refused([](CnnLayer& p) { p.pool_stride = -1; }, {"pool_stride of cnn_layer is -1"});
  refused([](CnnLayer& p) { p.height = 0; }, {"height of cnn_layer is 0", "at least 1"});
  refused([](CnnLayer& p) { p.output_channels = -1; }, {"output_channels of cnn_layer is -1"});
  refused([](CnnLayer& p) { p.layout = Layout{2}; }, {"layout of cnn_layer is the number 2", "nchw or nhwc"});
  refused([](CnnLayer& p) { p.accuracy = Accuracy{9}; }, {"accuracy of cnn_layer is the number 9", "fast"});
  refused([](CnnLayer& p) { p.type = DataType::uint8; }, {"uint8", "float32 or float64"});
  refused([](CnnLayer& p) { p.padding = kLast; }, {"padding of cnn_layer is " + std::to_string(kLast), "passes"});
  refused([](CnnLayer& p) { p.batch = kLast / 50; }, {"operand input of cnn_layer", kLargest});
  refused([](CnnLayer& p) { p.batch = 0, p.height = kLast / 2; }, {"operand input of cnn_layer", kLargest});
  refused([](CnnLayer& p) { p.padding = p.stride = std::int64_t{1} << 40; }, {"operand input with its", kLargest});
  refused([](CnnLayer& p) { p.output_channels = kLast / 20; }, {"operand weights of cnn_layer", "passes"});
}

TEST_P(CnnLayerMisuseTest, wrong_options) {
  expect_wrong_options_refused(small_layer(), device(), GetParam());
}

TEST_P(CnnLayerMisuseTest, wrong_operands) {
  const auto doubles = device().allocate<double>(90);
  expect_run_refused({.input = input_.view(0, 89), .weights = weights_, .bias = bias_, .output = output_},
                     {"operand input", "89 elements", "at least 90"});
  expect_run_refused({.input = doubles, .weights = weights_, .bias = bias_, .output = output_},
                     {"operand input", "float64", "float32"});
  expect_run_refused({.input = input_, .weights = weights_.view(0, 53), .bias = bias_, .output = output_},
                     {"operand weights", "53 elements", "at least 54"});
  expect_run_refused({.input = input_, .weights = {}, .bias = bias_, .output = output_},
                     {"operand weights", "nothing"});
  expect_run_refused({.input = input_, .weights = weights_, .bias = {}, .output = output_},
                     {"operand bias", "nothing"});
  expect_run_refused({.input = input_, .weights = weights_, .bias = output_, .output = output_},
                     {"operand output", "operand bias", "overlap"});
  expect_run_refused({.input = input_, .weights = weights_, .bias = bias_, .output = output_.untyped().as_const()},
                     {"operand output", "read-only"});
  CnnLayer no_bias = small_layer();
  no_bias.bias = false;
  Queue queue(device());
  const auto kernel = device().kernel(no_bias);
  expect_refused(
      refusal_of([&] { queue.run(kernel, {.input = input_, .weights = weights_, .bias = bias_, .output = output_}); }),
      {"operand bias", "has no bias"});
}

TEST_P(CnnLayerMisuseTest, prepared_weights_of_another_kernel) {
  Queue queue(device());
  std::vector<std::string> variants;
  for (const VariantReport& report : explain(small_layer(), device())) {
    if (report.can_run) variants.push_back(report.variant);
  }
  const auto first = device().kernel(small_layer(), {.variant = variants.front()});
  const PreparedWeights prepared = queue.prepare_weights(first, weights_);
  for (std::size_t i = 1; i < variants.size(); ++i) {
    const auto other = device().kernel(small_layer(), {.variant = variants[i], .label = "other"});
    expect_refused(
        refusal_of([&] { queue.run(other, {.input = input_, .weights = prepared, .bias = bias_, .output = output_}); }),
        {"prepared for cnn_layer (" + variants.front() + ")", "cnn_layer (" + variants[i] + ") 'other'", GetParam()});
  }
  CnnLayer wider = small_layer();
  wider.relu = false;
  const auto same_variant = device().kernel(wider, {.variant = variants.front()});
  expect_refused(refusal_of([&] {
                   queue.run(same_variant, {.input = input_, .weights = prepared, .bias = bias_, .output = output_});
                 }),
                 {"relu=1", "relu=0"});
  PreparedWeights moved = queue.prepare_weights(first, weights_);
  const PreparedWeights taken = std::move(moved);
  expect_run_refused({.input = input_, .weights = moved, .bias = bias_, .output = output_},  // NOLINT
                     {"operand weights", "moved from"});
  // What was refused changed nothing: the right kernel still takes them.
  queue.run(device().kernel(small_layer(), {.variant = variants.front()}),
            {.input = input_, .weights = taken, .bias = bias_, .output = output_});
  EXPECT_EQ(queue.download(output_).get(), std::vector<float>(4, 27.5F));
}

}  // namespace
}  // namespace tessera::testing_support
