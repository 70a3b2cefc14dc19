// The oracle and the reference of cnn_layer tested themselves, without a device: that the oracle is right, that honest
// arithmetic meets the bound, and that planted errors are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_reference.h"
#include "conformance/inputs.h"

namespace tessera::conformance {
namespace {

template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  fill_values(std::span<T>(values), Values::symmetric, seed);
  return values;
}

CnnLayer layer_of(std::int64_t input_channels, std::int64_t output_channels, std::int64_t size, std::int64_t filter) {
  return {.input_channels = input_channels,
          .output_channels = output_channels,
          .height = size,
          .width = size,
          .filter_height = filter,
          .filter_width = filter};
}

/// A layer with its operands and the strict algorithm's result, nchw.
template <class T>
struct Layer {
  explicit Layer(CnnLayer asked)
      : problem(asked),
        input(random_values<T>(asked.batch * asked.input_channels * asked.height * asked.width, 1)),
        weights(random_values<T>(
            asked.output_channels * asked.input_channels * asked.filter_height * asked.filter_width, 2)),
        bias(random_values<T>(asked.output_channels, 3)) {
    problem.type = data_type_of<T>;
  }
  [[nodiscard]] CnnLayerInputs<T> inputs() const { return {problem, input, weights, bias}; }
  [[nodiscard]] T sum(std::int64_t n, std::int64_t o, std::int64_t y, std::int64_t x) const {
    const CnnLayerInputs<T> in = inputs();
    T total = bias[static_cast<std::size_t>(o)];
    for (std::int64_t c = 0; c < problem.input_channels; ++c) {
      for (std::int64_t i = 0; i < problem.filter_height; ++i) {
        for (std::int64_t j = 0; j < problem.filter_width; ++j) {
          const std::int64_t row = y * problem.stride + i - problem.padding;
          const std::int64_t column = x * problem.stride + j - problem.padding;
          if (row < 0 || column < 0 || row >= problem.height || column >= problem.width) continue;
          total += in.weight_at(o, c, i, j) * in.input_at(n, c, row, column);
        }
      }
    }
    return problem.relu ? std::max(T(0), total) : total;
  }
  [[nodiscard]] std::vector<T> result() const {
    std::vector<T> all;
    const CnnLayer& p = problem;
    for (std::int64_t plane = 0; plane < p.batch * p.output_channels; ++plane) {
      for (std::int64_t y = 0; y < p.output_height(); ++y) {
        for (std::int64_t x = 0; x < p.output_width(); ++x) {
          T largest = -std::numeric_limits<T>::infinity();
          for (std::int64_t i = 0; i < p.pool_size * p.pool_size; ++i) {
            largest = std::max(largest, sum(plane / p.output_channels, plane % p.output_channels,
                                            y * p.pool_step() + i / p.pool_size, x * p.pool_step() + i % p.pool_size));
          }
          all.push_back(largest);
        }
      }
    }
    return all;
  }

  CnnLayer problem;
  std::vector<T> input;
  std::vector<T> weights;
  std::vector<T> bias;
};

template <class T>
Outcome outcome_of(const CnnLayerReference<T>& reference, const std::vector<T>& result, double error_factor = 1,
                   T poison = T(-123)) {
  Comparison comparison(data_type_of<T>);
  reference.check(result, error_factor, poison, comparison);
  return comparison.outcome();
}

TEST(CnnLayerOracleTest, knows_a_layer_by_hand) {
  CnnLayer problem = layer_of(1, 1, 3, 2);
  problem.type = DataType::float64;
  problem.pool_size = 2;
  const std::vector<double> input{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> weights{1, 0, 0, -2};
  const std::vector<double> bias{7};
  // Sums: 1 - 10, 2 - 12, 4 - 16, 5 - 18, each + 7.
  const auto output = [&] {
    return cnn_layer_element<double>({problem, input, weights, bias}, {}, true).element.value;
  };
  EXPECT_EQ(output().high, 0);
  problem.relu = false;
  EXPECT_EQ(output().high, -2);
  problem.pool_size = 1;
  problem.padding = 1;
  EXPECT_EQ(output().high, -2 * 1 + 7) << "the corner meets the last weight alone";
}

TEST(CnnLayerOracleTest, a_nan_is_hidden_by_nothing) {
  CnnLayer problem = layer_of(1, 1, 4, 1);
  problem.pool_size = 2;
  std::vector<float> input(16, -5);
  input[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weights{1};
  const std::vector<float> bias{0};
  const CnnLayerInputs<float> inputs{problem, input, weights, bias};
  EXPECT_TRUE(std::isnan(cnn_layer_element(inputs, {0, 0, 0, 0}, false).element.value.high));
  EXPECT_EQ(cnn_layer_element(inputs, {0, 0, 1, 1}, false).element.value.high, 0);
}

TEST(CnnLayerOracleTest, a_window_has_a_bound_of_its_own) {
  CnnLayer problem = layer_of(1, 1, 7, 3);
  problem.type = DataType::float64;
  problem.bias = false;
  std::vector<double> input(49, 1);
  std::vector<double> weights(9, -2);
  const auto expected = [&](std::int64_t y, std::int64_t x) {
    return cnn_layer_element<double>({problem, input, weights, {}}, {0, 0, y, x}, true);
  };
  const CnnLayerExpected even = expected(0, 0);
  EXPECT_EQ(even.window_bound, even.element.bound) << "weights of one size";
  input[3 * 7 + 3] = 1e10;
  EXPECT_EQ(expected(0, 0).window_bound, even.window_bound) << "the outlier lies beside the window";
  EXPECT_GT(expected(0, 0).neighbours_bound, 1e8 * even.window_bound);
  EXPECT_GT(expected(1, 1).window_bound, 1e8 * even.window_bound);
  weights[4] = 20;
  EXPECT_NEAR(expected(0, 0).window_bound / even.window_bound, 10, 1e-9) << "the largest weight counts for all";
}

TEST(CnnLayerReferenceTest, an_outlier_beside_the_window_forgives_nothing) {
  CnnLayer problem = layer_of(3, 2, 9, 3);
  problem.relu = false;
  Layer<float> layer(problem);
  layer.input[4 * 9 + 4] = 1e8F;
  const CnnLayerReference<float> reference(layer.inputs(), Draw::chosen, 4);
  auto result = layer.result();
  EXPECT_TRUE(outcome_of(reference, result, 46).passed);
  result[0] += 0.1F;
  EXPECT_FALSE(outcome_of(reference, result, 46).passed);
}

template <class T>
void expect_honest_arithmetic_passes() {
  for (const std::int64_t stride : {1, 2}) {
    for (const std::int64_t pool : {1, 2, 3}) {
      CnnLayer problem = layer_of(7, 5, 12, 3);
      problem.batch = 2;
      problem.stride = stride;
      problem.padding = 2;
      problem.pool_size = pool;
      problem.relu = pool != 2;
      const Layer<T> layer(problem);
      const CnnLayerReference<T> reference(layer.inputs(), Draw::symmetric, 4);
      ASSERT_TRUE(reference.is_complete());
      const Outcome outcome = outcome_of(reference, layer.result());
      EXPECT_TRUE(outcome.passed) << outcome.failure;
      EXPECT_GT(outcome.worst_error, 0);
    }
  }
}

TEST(CnnLayerReferenceTest, honest_arithmetic_meets_the_bound) {
  expect_honest_arithmetic_passes<float>();
  expect_honest_arithmetic_passes<double>();
}

/// With a stride no neighbours are looked at: an error factor widens the strict bound, by itself and by no more.
TEST(CnnLayerReferenceTest, with_a_stride_an_error_factor_widens_the_strict_bound) {
  constexpr double kFactor = 1.5;
  CnnLayer problem = layer_of(3, 5, 12, 3);
  problem.stride = 2;
  problem.padding = 1;
  problem.bias = problem.relu = false;
  Layer<float> layer(problem);
  std::fill(layer.bias.begin(), layer.bias.end(), 0.0F);
  const CnnLayerReference<float> reference(layer.inputs(), Draw::chosen, 4);
  const auto right = layer.result();
  EXPECT_TRUE(outcome_of(reference, right, kFactor).passed) << outcome_of(reference, right, kFactor).failure;
  const double bound = cnn_layer_element(layer.inputs(), {}, false).element.bound;
  auto wrong = right;
  wrong[0] = right[0] + static_cast<float>(0.5 * (1 + kFactor) * bound);
  EXPECT_FALSE(outcome_of(reference, wrong).passed);
  EXPECT_TRUE(outcome_of(reference, wrong, kFactor).passed);
  wrong[0] = right[0] + static_cast<float>(2 * kFactor * bound);
  EXPECT_FALSE(outcome_of(reference, wrong, kFactor).passed);
}

TEST(CnnLayerReferenceTest, planted_errors_are_found) {
  CnnLayer problem = layer_of(3, 4, 8, 3);
  problem.pool_size = 2;
  problem.relu = false;
  const Layer<float> layer(problem);
  const CnnLayerReference<float> reference(layer.inputs(), Draw::symmetric, 4);
  const auto right = layer.result();
  ASSERT_EQ(right.size(), 36U);
  for (std::size_t index = 0; index < right.size(); ++index) {
    auto wrong = right;
    wrong[index] += 1e-4F;
    const Outcome outcome = outcome_of(reference, wrong);
    EXPECT_FALSE(outcome.passed) << index;
    const std::string name = "output (" + std::to_string(index / 3 % 3) + ", " + std::to_string(index % 3) +
                             ") of channel " + std::to_string(index / 9);
    EXPECT_NE(outcome.failure.find(name), std::string::npos) << outcome.failure;
  }
}

TEST(CnnLayerReferenceTest, samples_and_mean_square_find_what_they_must) {
  CnnLayer problem = layer_of(64, 33, 44, 5);
  problem.pool_size = 2;
  const Layer<float> layer(problem);
  const CnnLayerReference<float> reference(layer.inputs(), Draw::symmetric, 4);
  ASSERT_FALSE(reference.is_complete());
  const auto right = layer.result();
  EXPECT_TRUE(outcome_of(reference, right).passed) << outcome_of(reference, right).failure;
  auto unwritten = right;
  unwritten[4321] = -123;
  EXPECT_FALSE(outcome_of(reference, unwritten).passed);
  auto no_channel = right;
  std::fill_n(no_channel.begin() + 17 * 400, 400, 1e3F);
  EXPECT_FALSE(outcome_of(reference, no_channel).passed);
  // With a factor so large that the bound of one output says little, the mean square still tells 1 part in 100.
  auto off = right;
  for (float& value : off) value *= 1.01F;
  EXPECT_TRUE(outcome_of(reference, right, 50).passed);
  const Outcome outcome = outcome_of(reference, off, 50);
  EXPECT_NE(outcome.failure.find("root mean square"), std::string::npos) << outcome.failure;
}

}  // namespace
}  // namespace tessera::conformance
