// The probabilistic bounds of cnn_layer tested themselves, without a device: honest float32 products hold them,
// products of numbers with 11 bits do not, though the worst case forgives them, that of an algorithm with a factor too.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_reference.h"
#include "conformance/inputs.h"
#include "eleven_bits.h"

namespace tessera::conformance {
namespace {

std::vector<float> random_values(std::int64_t count, Values values, std::uint64_t seed) {
  std::vector<float> made(static_cast<std::size_t>(count));
  fill_values(std::span<float>(made), values, seed);
  return made;
}

/// A layer with a filter of 5 x 5, whose operands are drawn at random.
class RandomLayer {
 public:
  RandomLayer(std::int64_t channels, std::int64_t side, Values values)
      : problem_{.input_channels = channels,
                 .output_channels = 4,
                 .height = side,
                 .width = side,
                 .filter_height = 5,
                 .filter_width = 5,
                 .relu = false},
        input_(random_values(channels * side * side, values, 1)),
        weights_(random_values(4 * channels * 25, values, 2)),
        bias_(random_values(4, values, 3)) {}

  /// Each pixel and weight changed by `round` before it is multiplied.
  template <class Round>
  std::vector<float> outputs(Round round) const {
    const CnnLayerInputs<float> inputs{problem_, input_, weights_, bias_};
    std::vector<float> all;
    const std::int64_t side = problem_.output_width();
    for (std::int64_t place = 0; place < 4 * side * side; ++place) {
      float sum = bias_[static_cast<std::size_t>(place / side / side)];
      for (std::int64_t channel = 0; channel < problem_.input_channels; ++channel) {
        for (std::int64_t i = 0; i < 25; ++i) {
          sum += round(inputs.weight_at(place / side / side, channel, i / 5, i % 5)) *
                 round(inputs.input_at(0, channel, place / side % side + i / 5, place % side + i % 5));
        }
      }
      all.push_back(sum);
    }
    return all;
  }
  Outcome outcome_of(const std::vector<float>& outputs, Draw draw, double error_factor = 1) const {
    Comparison comparison(DataType::float32);
    CnnLayerReference<float>({problem_, input_, weights_, bias_}, draw, 4)
        .check(outputs, error_factor, -123, comparison);
    return comparison.outcome();
  }

 private:
  CnnLayer problem_;
  std::vector<float> input_;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

/// What Winograd's algorithm declares for 64 channels and tiles of 4 x 4.
constexpr double kFactorOfWinograd = 98;

TEST(CnnLayerChanceTest, honest_products_hold_it) {
  for (const std::int64_t channels : {1, 9, 64}) {
    for (const auto& [values, draw] :
         {std::pair{Values::symmetric, Draw::symmetric}, {Values::positive, Draw::one_sided}}) {
      const RandomLayer layer(channels, 14, values);
      const std::vector<float> outputs = layer.outputs(as_it_is);
      EXPECT_EQ(layer.outcome_of(outputs, draw).failure, "") << channels;
      EXPECT_EQ(layer.outcome_of(outputs, draw, kFactorOfWinograd).failure, "") << channels;
    }
  }
}

TEST(CnnLayerChanceTest, products_of_11_bits_are_found_where_the_worst_case_forgives_them) {
  const RandomLayer layer(64, 14, Values::symmetric);
  const std::vector<float> outputs = layer.outputs(rounded_to_11_bits);
  for (const double factor : {1.0, kFactorOfWinograd}) {
    EXPECT_EQ(layer.outcome_of(outputs, Draw::chosen, factor).failure, "");
    EXPECT_FALSE(layer.outcome_of(outputs, Draw::symmetric, factor).passed) << factor;
  }
  // Of one element a factor leaves no more to say than the worst case.
  const std::string failure = layer.outcome_of(outputs, Draw::symmetric, kFactorOfWinograd).failure;
  EXPECT_NE(failure.find("root mean square"), std::string::npos) << failure;
}

TEST(CnnLayerChanceTest, the_root_mean_square_is_told) {
  const RandomLayer layer(9, 14, Values::symmetric);
  std::vector<float> outputs = layer.outputs(as_it_is);
  const Outcome honest = layer.outcome_of(outputs, Draw::symmetric);
  // 225 products and a bias, each with a mean square of 1/9, and 1/3.
  EXPECT_NEAR(honest.rms_value, 5, 1);
  EXPECT_LT(honest.rms_error, 1e-6 * honest.rms_value);
  EXPECT_GT(honest.rms_error, 1e-8 * honest.rms_value);
  for (float& output : outputs) output += 0.25F;
  EXPECT_NEAR(layer.outcome_of(outputs, Draw::symmetric).rms_error, 0.25, 1e-4);
}

}  // namespace
}  // namespace tessera::conformance
