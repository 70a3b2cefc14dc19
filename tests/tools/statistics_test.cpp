// Median, quartiles and their spread.
#include "tools/bench/statistics.h"

#include <gtest/gtest.h>

namespace tessera::tool {
namespace {

TEST(Statistics, OfNothingIsZero) {
  const Statistics result = summarise({});
  EXPECT_EQ(result.count, 0U);
  EXPECT_EQ(result.median, 0.0);
}

TEST(Statistics, OfOneSampleIsThatSample) {
  const Statistics result = summarise({3.5});
  EXPECT_EQ(result.median, 3.5);
  EXPECT_EQ(result.min, 3.5);
  EXPECT_EQ(result.max, 3.5);
  EXPECT_EQ(result.spread, 0.0);
  EXPECT_EQ(result.count, 1U);
}

TEST(Statistics, MedianOfAnOddCountIsTheMiddleOne) {
  EXPECT_EQ(summarise({9, 1, 5}).median, 5.0);
}

TEST(Statistics, MedianOfAnEvenCountLiesBetweenTheMiddleTwo) {
  EXPECT_EQ(summarise({4, 1, 2, 100}).median, 3.0);
}

TEST(Statistics, SpreadIsTheInterquartileRangeOverTheMedian) {
  const Statistics result = summarise({5, 1, 4, 2, 3});
  EXPECT_EQ(result.min, 1.0);
  EXPECT_EQ(result.max, 5.0);
  EXPECT_DOUBLE_EQ(result.spread, (4.0 - 2.0) / 3.0);
}

TEST(Statistics, OneDisturbedSampleDoesNotMoveTheSpread) {
  EXPECT_LT(summarise({1, 1, 1, 1, 1, 1, 1, 1, 1, 500}).spread, 0.01);
}

}  // namespace
}  // namespace tessera::tool
