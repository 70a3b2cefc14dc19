// What is likely, tested without a device: the two ways in which an error factor counts, and that too few errors say
// nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/chance.h"

namespace tessera::conformance {
namespace {

TEST(ChanceTest, grows_with_the_root) {
  const double u = std::ldexp(1.0, -24);
  EXPECT_NEAR(gamma_by_chance(40000, u, 1) / gamma_by_chance(10000, u, 1), 2, 0.05);
  EXPECT_LT(gamma_by_chance(10000, u, 1), gamma(1000, u));
  EXPECT_GT(gamma_by_chance(10000, u, 1), gamma(500, u));
}

/// Whether 300 sums of 100 terms, each with 1 as its sum of squares, may have errors of so many units of roundoff.
bool passes(double units, double factor, Excess excess, double in_touch = 1) {
  Chance chance(DataType::float64, {.roundings = 100}, Draw::symmetric, 300, factor, excess, in_touch);
  Comparison comparison(DataType::float64);
  const ExpectedSum sum{{.value = {0, 0}, .bound = 1}, 10, 1};
  for (int i = 0; i < 300; ++i) EXPECT_EQ(chance.difference(std::ldexp(units, -53), sum, 1, comparison), "");
  return chance.failure_of_all().empty();
}

TEST(ChanceTest, a_factor_counts_by_what_it_stands_for) {
  for (const Excess excess : {Excess::of_terms, Excess::roundings}) {
    EXPECT_TRUE(passes(9.9, 1, excess));
    EXPECT_FALSE(passes(10.1, 1, excess));
  }
  EXPECT_TRUE(passes(309, 4, Excess::of_terms));
  EXPECT_FALSE(passes(311, 4, Excess::of_terms));
  EXPECT_TRUE(passes(19.9, 4, Excess::roundings));
  EXPECT_FALSE(passes(20.1, 4, Excess::roundings));
}

TEST(ChanceTest, too_few_say_nothing) {
  EXPECT_TRUE(passes(50, 1, Excess::of_terms, 2));
  RootMeanSquare errors;
  for (int i = 0; i < 40; ++i) errors.add(2, 1);
  EXPECT_EQ(errors.failure(errors.count()), "");
  EXPECT_NE(errors.failure(errors.count(), 32), "");
}

TEST(ChanceTest, values_tell_how_they_were_drawn) {
  EXPECT_EQ(draw_of(Values::symmetric, false), Draw::symmetric);
  EXPECT_EQ(draw_of(Values::symmetric, true), Draw::chosen);
  EXPECT_EQ(draw_of(Values::positive, false), Draw::one_sided);
  EXPECT_EQ(draw_of(Values::wide, false), Draw::chosen);
}

}  // namespace
}  // namespace tessera::conformance
