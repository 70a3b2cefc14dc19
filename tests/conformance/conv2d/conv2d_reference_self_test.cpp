// The reference of conv2d tested itself, without a device: honest arithmetic meets the bound, and planted errors are
// found.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/inputs.h"
#include "conv2d/conv2d_oracle_outputs.h"

namespace tessera::conformance {
namespace {

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

TEST(Conv2dReferenceTest, honest_arithmetic_meets_the_bound) {
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

TEST(Conv2dReferenceTest, planted_errors_are_found) {
  expect_planted_errors_are_found<std::int32_t>();
  expect_planted_errors_are_found<std::uint8_t>();
  expect_planted_errors_are_found<float>();
}

TEST(Conv2dReferenceTest, mixed_up_definitions_are_found) {
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
class SampledConv2dTest : public testing::Test {
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

TEST_F(SampledConv2dTest, rows_and_edges_are_looked_at) {
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

TEST_F(SampledConv2dTest, pixels_never_written_are_found_in_every_row) {
  for (std::int64_t row = 0; row < 131; ++row) {
    Integers wrong = right_;
    wrong[row * kWidth + 33] = 77;
    EXPECT_NE(failure_of(wrong).find("pixel (" + std::to_string(row) + ", 33)"), std::string::npos) << row;
  }
}

TEST_F(SampledConv2dTest, a_right_result_may_look_like_poison) {
  const Outcome outcome = compared(*reference_, right_, right_[60 * kWidth + 5]);
  EXPECT_TRUE(outcome.passed) << outcome.failure;
}

TEST(Conv2dReferenceTest, nothing_to_compare_passes) {
  Conv2d problem = problem_of(DataType::int32, 0, 4, 3, 3, std::vector<double>(9, 1));
  EXPECT_TRUE(compared(problem, Integers{}, Integers{}).passed);
  problem = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1));
  problem.batch = 0;
  EXPECT_TRUE(compared(problem, Integers{}, Integers{}).passed);
}

}  // namespace
}  // namespace tessera::conformance
