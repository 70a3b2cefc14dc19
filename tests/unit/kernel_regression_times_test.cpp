// kernel_regression: whether tiles pay, for shapes whose times were measured on an H100.
#include "mathematics/kernel_regression_times.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::mathematics {
namespace {

/// As of OpenCL's "fused".
constexpr RegressionTileTimes kTimes{
    .launches = 20, .row = 0.28, .row_of_many = 1.3, .column = 0.0012, .pair = 20e-6, .products_per_us = 19e6};

KernelRegression problem_of(std::int64_t rows, std::int64_t columns, std::int64_t queries) {
  return {.training_rows = rows, .columns = columns, .queries = queries};
}

TEST(KernelRegressionTimesTest, tiles_pay_for_the_study) {
  for (const std::int64_t queries : {1000, 10000}) {
    EXPECT_TRUE(regression_pays_in_tiles(problem_of(60000, 784, queries), kTimes)) << queries;
  }
}

TEST(KernelRegressionTimesTest, tiles_do_not_pay_where_few_groups_meet_many_rows) {
  EXPECT_FALSE(regression_pays_in_tiles(problem_of(24355, 14, 109), kTimes));
  EXPECT_FALSE(regression_pays_in_tiles(problem_of(26706, 73, 16), kTimes));
  KernelRegression many = problem_of(2346, 46, 221);
  many.outputs = 11;
  const backend::Verdict verdict = regression_pays_in_tiles(many, kTimes);
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.because().find("221 queries"), std::string::npos) << verdict.because();
}

TEST(KernelRegressionTimesTest, more_of_anything_takes_longer) {
  const KernelRegression base = problem_of(5000, 100, 300);
  KernelRegression more = base;
  for (std::int64_t KernelRegression::*field :
       {&KernelRegression::training_rows, &KernelRegression::columns, &KernelRegression::queries}) {
    more = base;
    more.*field *= 20;
    EXPECT_GT(regression_time_of_naive(more), regression_time_of_naive(base));
    EXPECT_GT(regression_time_of_tiles(more, kTimes), regression_time_of_tiles(base, kTimes));
  }
  more = base;
  more.classes = 10;
  EXPECT_GT(regression_time_of_tiles(more, kTimes), regression_time_of_tiles(base, kTimes));
}

TEST(KernelRegressionTimesTest, one_launch_pays_for_few_rows_and_for_a_query_a_unit) {
  constexpr std::int64_t kUnits = 132;
  EXPECT_TRUE(regression_pays_in_one_kernel(problem_of(70, 110, 18), kUnits));
  EXPECT_TRUE(regression_pays_in_one_kernel(problem_of(100000, 10, kUnits), kUnits));
  EXPECT_FALSE(regression_pays_in_one_kernel(problem_of(100000, 10, kUnits - 1), kUnits));
}

}  // namespace
}  // namespace tessera::mathematics
