// The oracle and the reference of conv2d tested themselves, without a device: that the oracle gives what was worked out
// by hand, that the bound is met by honest arithmetic, and that planted errors are found.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/conv2d/conv2d_reference.h"
#include "conformance/inputs.h"

namespace tessera::conformance {
namespace {

template <class T>
using Outputs = std::vector<typename Conv2dInputs<T>::Output>;

Conv2d problem_of(DataType type, std::int64_t height, std::int64_t width, std::int64_t filter_height,
                  std::int64_t filter_width, std::vector<double> filter, Border border = Border::same) {
  return {.height = height,
          .width = width,
          .filter_height = filter_height,
          .filter_width = filter_width,
          .filter = std::move(filter),
          .border = border,
          .type = type};
}

/// Every pixel as the oracle says, rounded to the output's type.
template <class T>
Outputs<T> oracle(const Conv2d& problem, const std::vector<T>& images) {
  const Conv2dInputs<T> inputs{problem, images};
  Outputs<T> outputs;
  for (std::int64_t image = 0; image < problem.batch; ++image) {
    for (std::int64_t y = 0; y < problem.output_height(); ++y) {
      for (std::int64_t x = 0; x < problem.output_width(); ++x) {
        outputs.push_back(
            static_cast<typename Conv2dInputs<T>::Output>(conv2d_element(inputs, image, y, x).value.high));
      }
    }
  }
  return outputs;
}

using Integers = std::vector<std::int32_t>;

/// 3 x 4: 1 to 12.
Integers counted() {
  return {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
}

TEST(Conv2dOracle, correlates_and_pads_with_zeros) {
  const Conv2d sums = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1));
  EXPECT_EQ(oracle(sums, counted()), (Integers{14, 24, 30, 22, 33, 54, 63, 45, 30, 48, 54, 38}));
  // The weight to the upper left of the centre takes the pixel to the upper left.
  const Conv2d shift = problem_of(DataType::int32, 3, 4, 3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(oracle(shift, counted()), (Integers{0, 0, 0, 0, 0, 1, 2, 3, 0, 5, 6, 7}));
}

TEST(Conv2dOracle, leaves_the_border_out) {
  const Conv2d sums = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1), Border::valid);
  EXPECT_EQ(oracle(sums, counted()), (Integers{54, 63}));
  const Conv2d differences = problem_of(DataType::int32, 3, 4, 2, 1, {-1, 1}, Border::valid);
  EXPECT_EQ(oracle(differences, counted()), Integers(8, 4));
  const Conv2d all = problem_of(DataType::int32, 3, 4, 3, 4, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100}, Border::valid);
  EXPECT_EQ(oracle(all, counted()), Integers{1201});
}

TEST(Conv2dOracle, turns_the_filter_and_its_anchor) {
  Conv2d problem = problem_of(DataType::int32, 3, 4, 3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0});
  problem.flip = true;
  EXPECT_EQ(oracle(problem, counted()), (Integers{6, 7, 8, 0, 10, 11, 12, 0, 0, 0, 0, 0}));
  problem.border = Border::valid;
  EXPECT_EQ(oracle(problem, counted()), (Integers{11, 12}));
  // With the anchor on the only weight that counts, the image stays where it is, flipped or not.
  problem.border = Border::same;
  problem.anchor_y = problem.anchor_x = 0;
  EXPECT_EQ(oracle(problem, counted()), counted());
  problem.flip = false;
  EXPECT_EQ(oracle(problem, counted()), counted());
  problem.anchor_x = 2;  // the weight lies two columns to the left of the anchor
  EXPECT_EQ(oracle(problem, counted()), (Integers{0, 0, 1, 2, 0, 0, 5, 6, 0, 0, 9, 10}));
}

TEST(Conv2dOracle, anchors_even_filters_at_the_upper_left_of_the_middle) {
  const Conv2d square = problem_of(DataType::int32, 3, 4, 2, 2, {1, 10, 100, 1000});
  EXPECT_EQ(oracle(square, counted()), (Integers{6521, 7632, 8743, 804, 10965, 12076, 13187, 1208, 109, 120, 131, 12}));
  const Conv2d row = problem_of(DataType::int32, 3, 4, 1, 4, {1, 10, 100, 1000});  // the anchor is column 1
  EXPECT_EQ(oracle(row, counted()), (Integers{3210, 4321, 432, 43, 7650, 8765, 876, 87, 12090, 13209, 1320, 131}));
}

TEST(Conv2dOracle, takes_images_of_a_batch_apart) {
  Conv2d problem = problem_of(DataType::int32, 1, 2, 3, 3, std::vector<double>(9, 1));
  problem.batch = 3;
  EXPECT_EQ(oracle(problem, Integers{1, 2, 30, 40, 500, 600}), (Integers{3, 3, 70, 70, 1100, 1100}));
}

TEST(Conv2dOracle, wraps_around) {
  const Conv2d problem = problem_of(DataType::int32, 1, 2, 1, 2, {INT32_MAX, INT32_MAX}, Border::valid);
  EXPECT_EQ(oracle(problem, Integers{INT32_MAX, 1}), Integers{INT32_MIN});  // (2^31 - 1) * 2^31 modulo 2^32
  EXPECT_EQ(oracle(problem, Integers{INT32_MAX, INT32_MAX}), Integers{2});
  EXPECT_EQ(oracle(problem_of(DataType::int32, 1, 1, 1, 1, {INT32_MIN}), Integers{INT32_MIN}), Integers{0});
  EXPECT_EQ(oracle(problem_of(DataType::int32, 1, 1, 1, 1, {INT32_MIN}), Integers{-1}), Integers{INT32_MIN});
  EXPECT_EQ(oracle(problem_of(DataType::uint8, 1, 1, 1, 1, {INT32_MAX}), std::vector<std::uint8_t>{255}),
            Integers{INT32_MAX - 254});
  EXPECT_EQ(oracle(problem_of(DataType::int16, 1, 1, 1, 1, {INT32_MIN}), std::vector<std::int16_t>{-3}),
            Integers{INT32_MIN});
}

TEST(Conv2dOracle, bound_follows_the_roundings) {
  const double u = std::ldexp(1.0, -24);
  const std::vector<float> ones(16, 1.0F);
  const Conv2dInputs<float> inputs{problem_of(DataType::float32, 4, 4, 3, 3, std::vector<double>(9, -1)), ones};
  EXPECT_NEAR(conv2d_element(inputs, 0, 1, 1).bound / u, 9 * 9, 1e-3) << "nine products of magnitude 1";
  EXPECT_NEAR(conv2d_element(inputs, 0, 0, 1).bound / u, 6 * 6, 1e-3) << "six of them lie in the image";
  EXPECT_NEAR(conv2d_element(inputs, 0, 3, 3).bound / u, 4 * 4, 1e-3);
  const std::vector<std::int32_t> integers(16, 1);
  const Conv2dInputs<std::int32_t> exact{problem_of(DataType::int32, 4, 4, 3, 3, std::vector<double>(9, -1)), integers};
  EXPECT_EQ(conv2d_element(exact, 0, 1, 1).bound, 0);
}

/// Images of a problem with every value of their type, or in [-1, 1).
template <class T>
std::vector<T> random_images(const Conv2d& problem) {
  std::vector<T> images(static_cast<std::size_t>(problem.batch * problem.height * problem.width));
  if constexpr (std::is_integral_v<T>) {
    fill_integers(std::span<T>(images), 1);
  } else {
    fill_values(std::span<T>(images), Values::symmetric, 1);
  }
  return images;
}

/// Two images of 19 x 23 with a 5 x 4 filter.
template <class T>
Conv2d random_problem() {
  Conv2d problem = problem_of(data_type_of<T>, 19, 23, 5, 4, {});
  problem.batch = 2;
  for (std::uint64_t i = 0; i < 20; ++i) problem.filter.push_back(static_cast<double>(random_below(19, 3, i)) - 9);
  return problem;
}

/// The strict algorithm, one product after the other. `missing` weights at the filter's end are left out.
template <class T>
Outputs<T> plain_conv2d(const Conv2d& p, const std::vector<T>& images, std::int64_t missing = 0) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, float>;
  Outputs<T> outputs;
  for (std::int64_t pixel = 0; pixel < p.batch * p.height * p.width; ++pixel) {
    const std::int64_t y = pixel / p.width % p.height - (p.filter_height - 1) / 2;
    const std::int64_t x = pixel % p.width - (p.filter_width - 1) / 2;
    const T* const image = images.data() + pixel / (p.height * p.width) * p.height * p.width;
    Sum sum = 0;
    for (std::int64_t k = 0; k < p.filter_height * p.filter_width - missing; ++k) {
      const std::int64_t row = y + k / p.filter_width;
      const std::int64_t column = x + k % p.filter_width;
      if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
      sum += static_cast<Sum>(static_cast<std::int64_t>(p.filter[k])) * static_cast<Sum>(image[row * p.width + column]);
    }
    outputs.push_back(static_cast<typename Conv2dInputs<T>::Output>(sum));
  }
  return outputs;
}

template <class T>
Outcome compared(const Conv2dReference<T>& reference, const Outputs<T>& outputs,
                 typename Conv2dInputs<T>::Output poison = 77) {
  Comparison comparison(data_type_of<typename Conv2dInputs<T>::Output>);
  reference.check(outputs, 1, poison, comparison);
  return comparison.outcome();
}
template <class T>
Outcome compared(const Conv2d& problem, const std::vector<T>& images, const Outputs<T>& outputs) {
  return compared(Conv2dReference<T>(Conv2dInputs<T>{problem, images}, 2), outputs);
}

template <class T>
void expect_honest_arithmetic_passes() {
  const Conv2d problem = random_problem<T>();
  const auto images = random_images<T>(problem);
  const Outcome outcome = compared(problem, images, plain_conv2d(problem, images));
  EXPECT_TRUE(outcome.passed) << outcome.failure;
  if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ(outcome.worst_error, 0);
  } else {
    EXPECT_GT(outcome.worst_error, 0);
    EXPECT_LT(outcome.worst_error, outcome.bound);
  }
}

TEST(Conv2dReference, honest_arithmetic_meets_the_bound) {
  expect_honest_arithmetic_passes<std::int32_t>();
  expect_honest_arithmetic_passes<std::int16_t>();
  expect_honest_arithmetic_passes<std::uint8_t>();
  expect_honest_arithmetic_passes<float>();
}

template <class T>
void expect_planted_errors_are_found() {
  const Conv2d problem = random_problem<T>();
  const auto images = random_images<T>(problem);
  const Conv2dInputs<T> inputs{problem, images};
  const Conv2dReference<T> reference(inputs, 2);
  const auto right = plain_conv2d(problem, images);
  for (std::size_t index = 0; index < right.size(); ++index) {
    const auto at = static_cast<std::int64_t>(index);
    const std::int64_t image = at / (19 * 23);
    const std::int64_t y = at / 23 % 19;
    const std::int64_t x = at % 23;
    auto wrong = right;
    if constexpr (std::is_integral_v<T>) {
      wrong[index] = static_cast<std::int32_t>(static_cast<std::uint32_t>(right[index]) ^ 1U);  // the last bit
    } else {
      wrong[index] += static_cast<T>(2.1 * conv2d_element(inputs, image, y, x).bound);
    }
    const Outcome outcome = compared(reference, wrong);
    EXPECT_FALSE(outcome.passed) << index;
    const std::string name =
        "pixel (" + std::to_string(y) + ", " + std::to_string(x) + ") of output " + std::to_string(image);
    EXPECT_NE(outcome.failure.find(name), std::string::npos) << outcome.failure;
  }
  EXPECT_FALSE(compared(reference, plain_conv2d(problem, images, 1)).passed) << "one product too few";
}

TEST(Conv2dReference, planted_errors_are_found) {
  expect_planted_errors_are_found<std::int32_t>();
  expect_planted_errors_are_found<std::uint8_t>();
  expect_planted_errors_are_found<float>();
}

TEST(Conv2dReference, mixed_up_definitions_are_found) {
  Conv2d problem = random_problem<std::int32_t>();
  const auto images = random_images<std::int32_t>(problem);
  const auto right = oracle(problem, images);
  const auto passes_after = [&](const auto& change) {
    Conv2d other = problem;
    change(other);
    return compared(other, images, right).passed;
  };
  EXPECT_TRUE(passes_after([](Conv2d&) {}));
  EXPECT_TRUE(passes_after([](Conv2d& p) { p.anchor_y = 2, p.anchor_x = 1; })) << "what kCentre stands for";
  EXPECT_FALSE(passes_after([](Conv2d& p) { p.flip = true; }));
  EXPECT_FALSE(passes_after([](Conv2d& p) { p.anchor_x = 2; })) << "the other middle of an even filter";
  EXPECT_FALSE(passes_after([](Conv2d& p) { p.anchor_y = 1; }));
  EXPECT_FALSE(passes_after([](Conv2d& p) { std::swap(p.filter[0], p.filter[19]); }));
}

/// So large that one of 16 rows is looked at.
class SampledConv2d : public testing::Test {
 protected:
  void SetUp() override {
    problem_.filter.assign(63 * 63, 1);
    images_ = random_images<std::uint8_t>(problem_);
    right_ = plain_conv2d(problem_, images_);
    reference_.emplace(Conv2dInputs<std::uint8_t>{problem_, images_}, 2);
  }
  [[nodiscard]] std::string failure_of(const Integers& outputs) const { return compared(*reference_, outputs).failure; }

  static constexpr std::int64_t kWidth = 65;
  Conv2d problem_ = problem_of(DataType::uint8, 131, kWidth, 63, 63, {});
  std::vector<std::uint8_t> images_;
  Integers right_;
  std::optional<Conv2dReference<std::uint8_t>> reference_;
};

TEST_F(SampledConv2d, rows_and_edges_are_looked_at) {
  ASSERT_FALSE(reference_->is_complete());
  EXPECT_EQ(failure_of(right_), "");
  // Any 31 rows in a row hold one that is looked at, and every one along the edges is.
  for (std::int64_t first = 0; first + 31 <= 131; ++first) {
    Integers wrong = right_;
    for (std::int64_t y = first; y < first + 31; ++y) ++wrong[y * kWidth + 17];
    EXPECT_NE(failure_of(wrong), "") << first;
  }
  for (const std::int64_t row : {0, 1, 7, 123, 130}) {
    Integers wrong = right_;
    ++wrong[row * kWidth + kWidth - 1];
    EXPECT_NE(failure_of(wrong).find("pixel (" + std::to_string(row) + ", 64)"), std::string::npos) << row;
  }
}

TEST_F(SampledConv2d, pixels_never_written_are_found_in_every_row) {
  for (std::int64_t row = 0; row < 131; ++row) {
    Integers wrong = right_;
    wrong[row * kWidth + 33] = 77;
    EXPECT_NE(failure_of(wrong).find("pixel (" + std::to_string(row) + ", 33)"), std::string::npos) << row;
  }
}

TEST_F(SampledConv2d, a_right_result_may_look_like_poison) {
  const Outcome outcome = compared(*reference_, right_, right_[60 * kWidth + 5]);
  EXPECT_TRUE(outcome.passed) << outcome.failure;
}

TEST(Conv2dReference, nothing_to_compare_passes) {
  Conv2d problem = problem_of(DataType::int32, 0, 4, 3, 3, std::vector<double>(9, 1));
  EXPECT_TRUE(compared(problem, Integers{}, Integers{}).passed);
  problem = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1));
  problem.batch = 0;
  EXPECT_TRUE(compared(problem, Integers{}, Integers{}).passed);
}

}  // namespace
}  // namespace tessera::conformance
