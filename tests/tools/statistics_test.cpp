// Median, quartiles and their spread.
#include "tools/bench/statistics.h"

#include <gtest/gtest.h>

namespace tessera::tool {
namespace {

TEST(StatisticsTest, of_nothing_is_zero) {
  const Statistics result = summarise({});
  EXPECT_EQ(result.count, 0U);
  EXPECT_EQ(result.median, 0.0);
}

TEST(StatisticsTest, of_one_sample_is_that_sample) {
  const Statistics result = summarise({3.5});
  EXPECT_EQ(result.median, 3.5);
  EXPECT_EQ(result.min, 3.5);
  EXPECT_EQ(result.max, 3.5);
  EXPECT_EQ(result.spread, 0.0);
  EXPECT_EQ(result.count, 1U);
}

TEST(StatisticsTest, median_of_an_odd_count_is_the_middle_one) {
  EXPECT_EQ(summarise({9, 1, 5}).median, 5.0);
}

TEST(StatisticsTest, median_of_an_even_count_lies_between_the_middle_two) {
  EXPECT_EQ(summarise({4, 1, 2, 100}).median, 3.0);
}

TEST(StatisticsTest, spread_is_the_interquartile_range_over_the_median) {
  const Statistics result = summarise({5, 1, 4, 2, 3});
  EXPECT_EQ(result.min, 1.0);
  EXPECT_EQ(result.max, 5.0);
  EXPECT_DOUBLE_EQ(result.spread, (4.0 - 2.0) / 3.0);
}

TEST(StatisticsTest, one_disturbed_sample_does_not_move_the_spread) {
  EXPECT_LT(summarise({1, 1, 1, 1, 1, 1, 1, 1, 1, 500}).spread, 0.01);
}

}  // namespace
}  // namespace tessera::tool
