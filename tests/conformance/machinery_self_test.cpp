// The machinery of the conformance tests tested itself, without a device: inputs, exact sums and comparisons, and that
// every check can fail.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "conformance/compare.h"
#include "conformance/exact_sum.h"
#include "conformance/inputs.h"
#include "conformance/tunings.h"

namespace tessera::conformance {
namespace {

TEST(InputsTest, are_the_same_on_every_platform) {
  // Fixed once and for all: published results depend on them.
  EXPECT_EQ(random_bits(0, 0), 0xa706dd2f4d197e6fU);
  EXPECT_EQ(random_bits(1, 0), 0x5e41ab087439611eU);
  EXPECT_EQ(random_bits(1, 1000000007), 0x1ae7f4c3bcd846d5U);
  std::vector<double> wide(2);
  fill_values(std::span<double>(wide), Values::wide, 1);
  EXPECT_EQ(wide, (std::vector<double>{-0x1.0df2a7bc5e35p+8, 0x1.c635b3a4f5b3cp-16}));
  std::vector<float> floats(1000);
  fill_values(std::span<float>(floats), Values::symmetric, 1);
  EXPECT_EQ(floats[0], -0x1.0df2a8p-2F);
  EXPECT_EQ(floats[1], 0x1.c635bp-1F);
  double sum = 0;
  for (const float value : floats) {
    EXPECT_GE(value, -1.0F);
    EXPECT_LT(value, 1.0F);
    sum += value;
  }
  EXPECT_LT(std::abs(sum), 100);  // 5 standard deviations of 1000 even values
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(random_below(7, 3, i), 7U);
}

TEST(ExactSumTest, keeps_what_double_loses) {
  ExactSum sum;
  sum.add_product(1e16, 1.0);
  sum.add_product(1.0, 1.0);
  sum.add_product(-1e16, 1.0);
  EXPECT_EQ(sum.value().high, 1.0);
  ExactSum squares;
  const double x = 1 + std::ldexp(1.0, -40);
  squares.add_product(x, x);
  squares.add_product(-1.0, 1.0);
  squares.add_product(-2.0, std::ldexp(1.0, -40));
  EXPECT_EQ(squares.value().high, std::ldexp(1.0, -80));
  ExactSum infinite;
  infinite.add_product(std::numeric_limits<double>::infinity(), 2.0);
  infinite.add_product(1.0, 1.0);
  EXPECT_EQ(infinite.value().high, std::numeric_limits<double>::infinity());
  infinite.add_product(-std::numeric_limits<double>::infinity(), 2.0);
  EXPECT_TRUE(std::isnan(infinite.value().high));
}

TEST(ComparisonTest, accepts_what_it_must_and_nothing_else) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto accepts = [](double found, double value, double bound) {
    return Comparison(DataType::float32).accepts(found, {{value, 0}, bound});
  };
  EXPECT_TRUE(accepts(1.5, 1.0, 0.5));
  EXPECT_FALSE(accepts(1.5000001, 1.0, 0.5));
  EXPECT_FALSE(accepts(0.4999999, 1.0, 0.5));
  EXPECT_TRUE(accepts(2, 2, 0));
  EXPECT_TRUE(accepts(kNan, kNan, 0));
  EXPECT_FALSE(accepts(kNan, 1, 1));
  EXPECT_FALSE(accepts(1, kNan, 1));
  EXPECT_TRUE(accepts(kInfinity, kInfinity, 0));
  EXPECT_FALSE(accepts(-kInfinity, kInfinity, 0));
  EXPECT_FALSE(accepts(kInfinity, kNan, 0));
  EXPECT_FALSE(accepts(kLargest, kInfinity, 1));
  EXPECT_FALSE(accepts(kInfinity, 1e38, 1e30));
  EXPECT_TRUE(accepts(kInfinity, kLargest, 1e33)) << "a bound that passes the largest number allows for overflow";
  EXPECT_FALSE(accepts(-kInfinity, kLargest, 1e33));
  EXPECT_FALSE(accepts(1, 1.5, kInfinity)) << "an infinite bound says nothing, so that nothing passes it";
}

TEST(ComparisonTest, keeps_the_worst_element) {
  Comparison comparison(DataType::float32);
  EXPECT_TRUE(comparison.accepts(1.0, {{1.0, 0}, 0.5}));
  EXPECT_TRUE(comparison.accepts(1.1, {{1.0, 0}, 10.0}));
  EXPECT_TRUE(comparison.accepts(1.25, {{1.0, 0}, 0.5}));
  EXPECT_TRUE(comparison.accepts(2.0, {{1.0, 0}, 4.0}));
  EXPECT_EQ(comparison.outcome().worst_error, 0.25);
  EXPECT_EQ(comparison.outcome().bound, 0.5);
  EXPECT_TRUE(comparison.outcome().passed);
  comparison.fail("first");
  comparison.fail("second");
  EXPECT_FALSE(comparison.outcome().passed);
  EXPECT_EQ(comparison.outcome().failure, "first (and 1 more)");
}

std::vector<Tunable> free_and_paired() {
  return {{.name = "tile_m", .meaning = "rows", .values = {32, 64}, .preferred = 64},
          {.name = "tile_n",
           .meaning = "columns",
           .values = {32, 128},
           .preferred = 128,
           .paired_with = "tile_m",
           .pairs = {{32, 32}, {64, 32}, {64, 128}}},
          {.name = "split_k", .meaning = "groups", .values = {1, 2}, .preferred = 1}};
}

TEST(TuningsTest, are_all_that_exist) {
  const std::vector<Tuning> all = all_combinations(free_and_paired(), 6);
  EXPECT_EQ(all.size(), 6U);
  for (const Tuning& tuning : all) {
    EXPECT_EQ(tuning.size(), 3U);
    EXPECT_FALSE(tuning.at("tile_m") == 32 && tuning.at("tile_n") == 128);
  }
  EXPECT_TRUE(all_combinations({}, 8).empty());
}

TEST(TuningsTest, are_each_value_where_all_are_too_many) {
  const std::vector<Tuning> each{{{"tile_m", 32}, {"tile_n", 32}},
                                 {{"tile_m", 64}, {"tile_n", 32}},
                                 {{"tile_m", 64}, {"tile_n", 128}},
                                 {{"split_k", 1}},
                                 {{"split_k", 2}}};
  EXPECT_EQ(each_value(free_and_paired()), each);
  EXPECT_EQ(all_combinations(free_and_paired(), 5), each);
}

}  // namespace
}  // namespace tessera::conformance
