// What backends ask of conv2d's filter: its factors, whether float arithmetic is exact on it, and the verdicts.
#include "mathematics/conv2d_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tessera::mathematics {
namespace {

Conv2d with_filter(std::int64_t height, std::int64_t width, std::vector<double> filter,
                   DataType type = DataType::int32) {
  return {.height = 9,
          .width = 9,
          .filter_height = height,
          .filter_width = width,
          .filter = std::move(filter),
          .type = type};
}

/// The factors are there, are numbers of the type, and multiply to the very weights.
void expect_factors(const Conv2d& problem) {
  const auto factors = rank_one_factors(problem);
  ASSERT_TRUE(factors);
  EXPECT_TRUE(check_rank_one(problem));
  ASSERT_EQ(factors->column.size(), static_cast<std::size_t>(problem.filter_height));
  ASSERT_EQ(factors->row.size(), static_cast<std::size_t>(problem.filter_width));
  for (std::size_t i = 0; i < factors->column.size(); ++i) {
    for (std::size_t j = 0; j < factors->row.size(); ++j) {
      EXPECT_EQ(factors->column[i] * factors->row[j], problem.filter[i * factors->row.size() + j]) << i << ", " << j;
    }
  }
  for (const std::vector<double>& values : {factors->column, factors->row}) {
    for (const double value : values) {
      if (problem.type == DataType::float32) {
        EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
      } else {
        EXPECT_EQ(value, static_cast<double>(static_cast<std::int32_t>(value)));
      }
    }
  }
}

void expect_no_factors(const Conv2d& problem) {
  EXPECT_FALSE(rank_one_factors(problem));
  const backend::Verdict verdict = check_rank_one(problem);
  EXPECT_FALSE(verdict);
  EXPECT_EQ(verdict.because(), "the filter of conv2d is not exactly a column times a row in " +
                                   std::string(to_string(problem.output_type())));
}

TEST(RankOneFactorsTest, of_products_of_integers) {
  expect_factors(with_filter(1, 1, {-7}));
  expect_factors(with_filter(3, 3, {1, 0, -1, 2, 0, -2, 1, 0, -1}));
  expect_factors(with_filter(2, 2, {4, 6, 6, 9}));
  expect_factors(with_filter(2, 3, {0, 0, 5, 0, 0, -15}));
  expect_factors(with_filter(3, 2, {0, 0, 0, 0, 8, 12}));
  expect_factors(with_filter(1, 4, {3, 0, 5, 7}));
  expect_factors(with_filter(4, 1, {3, 0, 5, 7}));
  expect_factors(with_filter(5, 5, std::vector<double>(25, 1), DataType::uint8));
  expect_factors(with_filter(2, 2, {INT32_MAX, INT32_MAX, -INT32_MAX, -INT32_MAX}, DataType::int16));
}

TEST(RankOneFactorsTest, of_products_of_floats) {
  std::vector<double> blur;
  for (const double y : {1, 4, 6, 4, 1}) {
    for (const double x : {1, 4, 6, 4, 1}) blur.push_back(y * x / 256);
  }
  expect_factors(with_filter(5, 5, blur, DataType::float32));
  const auto tenth = static_cast<double>(0.1F);
  expect_factors(with_filter(2, 2, {tenth, -2 * tenth, 4 * tenth, -8 * tenth}, DataType::float32));
}

TEST(RankOneFactorsTest, of_nothing_else) {
  expect_no_factors(with_filter(2, 2, {1, 0, 0, 1}));
  expect_no_factors(with_filter(2, 2, {1, 0, 2, 1}));
  expect_no_factors(with_filter(2, 2, {2, 1, 1, 1}));
  expect_no_factors(with_filter(3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 2}));
  expect_no_factors(with_filter(3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}));
  // A tenth in float times three is another number than three tenths.
  const auto tenth = static_cast<double>(0.1F);
  const auto three_tenths = static_cast<double>(0.1F * 3.0F);
  expect_no_factors(with_filter(2, 2, {1, 3, tenth, three_tenths}, DataType::float32));
}

TEST(RankOneFactorsTest, are_numbers_of_the_arithmetic) {
  expect_no_factors(with_filter(3, 3, std::vector<double>(9, 0)));
  // The only integer factors of the least int32 are -1 and 2^31, which is none.
  expect_no_factors(with_filter(1, 2, {INT32_MIN, INT32_MIN}));
  expect_factors(with_filter(1, 2, {INT32_MIN, INT32_MIN}, DataType::float32));
  // Weights so far apart that no integers of 64 bits hold them.
  expect_no_factors(with_filter(2, 2, {1e30, 1e30, 1e-30, 1e-30}, DataType::float32));
}

TEST(RankOneFactorsTest, of_one_column_are_the_column_and_one) {
  for (const std::vector<double>& column : {std::vector<double>{INT32_MIN}, {6, 0, -9}, {0, 0}}) {
    const Conv2d problem = with_filter(static_cast<std::int64_t>(column.size()), 1, column);
    expect_factors(problem);
    EXPECT_EQ(rank_one_factors(problem)->row, std::vector<double>{1});
  }
}

/// 3 x 3 weights with neither factor free of rounding.
Conv2d rounded_twice(std::int64_t anchor_y, std::int64_t anchor_x) {
  Conv2d problem = with_filter(3, 3, {3, 5, 7, 9, 15, 21, 3, 5, 7}, DataType::float32);
  problem.anchor_y = anchor_y;
  problem.anchor_x = anchor_x;
  return problem;
}

TEST(SeparableErrorTest, is_twice_that_of_the_direct_sum_where_windows_hold_one_pixel) {
  EXPECT_EQ(separable_error_factor(rounded_twice(1, 1)), 1);
  EXPECT_EQ(separable_error_factor(rounded_twice(0, 1)), 2);
  EXPECT_EQ(separable_error_factor(rounded_twice(1, 2)), 2);
  Conv2d problem = rounded_twice(1, 1);
  problem.width = 1;
  EXPECT_EQ(separable_error_factor(problem), 2);
  problem = rounded_twice(0, 0);
  problem.border = Border::valid;
  EXPECT_EQ(separable_error_factor(problem), 1);
  problem = rounded_twice(0, 0);
  problem.type = DataType::int32;
  EXPECT_EQ(separable_error_factor(problem), 1);
  problem = rounded_twice(0, 0);
  problem.filter = {3, 5, 7, 6, 10, 14, 12, 20, 28};
  EXPECT_EQ(separable_error_factor(problem), 1) << "products with 1, 2 and 4 are exact";
}

TEST(SeparableErrorTest, refuses_strict_sums) {
  Conv2d problem = rounded_twice(0, 0);
  EXPECT_TRUE(check_rank_one(problem));
  problem.accuracy = Accuracy::strict;
  EXPECT_FALSE(check_rank_one(problem));
  EXPECT_TRUE(check_rank_one(with_filter(1, 3, {3, 5, 7}, DataType::float32)));
}

TEST(ExactInFloatTest, up_to_the_last_sum_that_float_counts) {
  const auto exact = [](double sum, DataType type) {
    return is_exact_in_float32(with_filter(1, 2, {-1, sum - 1}, type));
  };
  // 255 * 65793 = 2^24 - 1, and one more passes it.
  EXPECT_TRUE(exact(65793, DataType::uint8));
  EXPECT_FALSE(exact(65794, DataType::uint8));
  // 32768 * 512 = 2^24, the last integer that float counts to.
  EXPECT_TRUE(exact(512, DataType::int16));
  EXPECT_FALSE(exact(513, DataType::int16));
  EXPECT_FALSE(exact(2, DataType::int32)) << "a pixel may be anything";
  EXPECT_TRUE(is_exact_in_float32(with_filter(1, 2, {0, 0}, DataType::int32)));
}

TEST(Conv2dChecksTest, take_the_sizes_of_the_study) {
  for (const std::int64_t height : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    for (const std::int64_t width : {1, 3, 5, 7, 9}) {
      const backend::Verdict verdict = check_square_3_5_7(
          with_filter(height, width, std::vector<double>(static_cast<std::size_t>(height * width), 1)));
      const bool is_one = height == width && (height == 3 || height == 5 || height == 7);
      EXPECT_EQ(static_cast<bool>(verdict), is_one) << height << " x " << width;
      if (is_one) continue;
      EXPECT_EQ(verdict.because(), "the filter of conv2d is " + std::to_string(height) + " x " + std::to_string(width) +
                                       ", but must be 3 x 3, 5 x 5 or 7 x 7");
    }
  }
}

TEST(Conv2dWeightTest, wraps_as_integers_do) {
  EXPECT_EQ(conv2d_weight<std::uint32_t>(-1), 0xffffffffU);
  EXPECT_EQ(conv2d_weight<std::uint32_t>(INT32_MIN), 0x80000000U);
  EXPECT_EQ(conv2d_weight<std::uint32_t>(INT32_MAX), 0x7fffffffU);
  EXPECT_EQ(conv2d_weight<float>(-0.5), -0.5F);
}

}  // namespace
}  // namespace tessera::mathematics
