// kernel_regression: what the models of CUDA's times say of shapes whose times were measured on an H100.
#include "mathematics/kernel_regression_times.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/ops/kernel_regression/kernel_regression_variant_times.h"

namespace tessera::mathematics {
namespace {

constexpr std::int64_t kBlockRows = 256, kUnits = 132;

KernelRegression problem_of(std::int64_t rows, std::int64_t columns, std::int64_t queries) {
  return {.training_rows = rows, .columns = columns, .queries = queries};
}

double by_rows(const KernelRegression& problem) {
  return regression_time_by_rows(problem, cuda::kRegressionNaive, {false, kUnits});
}
double by_tiles(const KernelRegression& problem) {
  return regression_time_of_tiles(problem, cuda::kRegressionFusedSplit, {kBlockRows});
}

TEST(KernelRegressionTimesTest, tiles_take_less_time_for_the_study) {
  for (const std::int64_t queries : {1000, 10000}) {
    EXPECT_LT(by_tiles(problem_of(60000, 784, queries)), by_rows(problem_of(60000, 784, queries)) / 10) << queries;
  }
}

TEST(KernelRegressionTimesTest, rows_take_less_time_for_few_products) {
  EXPECT_LT(by_rows(problem_of(458, 25, 18)), by_tiles(problem_of(458, 25, 18)));
  EXPECT_LT(by_rows(problem_of(200, 8, 160)), by_tiles(problem_of(200, 8, 160)));
}

TEST(KernelRegressionTimesTest, more_of_anything_takes_longer) {
  const KernelRegression base = problem_of(5000, 101, 300);
  KernelRegression more = base;
  for (std::int64_t KernelRegression::*field :
       {&KernelRegression::training_rows, &KernelRegression::columns, &KernelRegression::queries,
        &KernelRegression::classes, &KernelRegression::outputs}) {
    more = base;
    more.*field = more.*field * 20 + 1;
    EXPECT_GT(by_rows(more), by_rows(base));
    EXPECT_GT(by_tiles(more), by_tiles(base));
  }
}

TEST(KernelRegressionTimesTest, rows_that_begin_at_a_cache_line_take_longer_where_multiprocessors_have_many) {
  EXPECT_GT(by_rows(problem_of(900, 512, 160)), 1.5 * by_rows(problem_of(900, 513, 160)));
  EXPECT_NEAR(by_rows(problem_of(300, 512, 5)), by_rows(problem_of(300, 513, 5)), 0.1);
}

TEST(KernelRegressionTimesTest, few_queries_wait_for_a_set_beyond_the_caches) {
  EXPECT_GT(by_rows(problem_of(3000, 257, 2)), 1.2 * by_rows(problem_of(1500, 257, 2)));
  EXPECT_NEAR(by_rows(problem_of(1500, 257, 2)), by_rows(problem_of(1500, 257, 4)), 0.1);
}

TEST(KernelRegressionTimesTest, columns_of_rows_that_fill_a_tile_in_part_take_as_long) {
  const auto time = [](std::int64_t rows, std::int64_t tile) {
    return regression_time_of_tiles(problem_of(rows, 577, 1), cuda::kRegressionFusedSplit, {kBlockRows, tile});
  };
  EXPECT_GT(time(60, 128), time(60, 64));
  EXPECT_GT(time(60, 64), time(60, 1));
  EXPECT_EQ(time(kBlockRows, 128), time(kBlockRows, 1));
}

TEST(KernelRegressionTimesTest, one_group_for_all_rows_of_a_query_takes_longer_where_queries_are_few) {
  const RegressionGroups one{true, kUnits};
  const KernelRegression few = problem_of(5000, 101, 3), many = problem_of(5000, 101, 10 * kUnits);
  EXPECT_GT(regression_time_by_rows(few, cuda::kRegressionNaive, one), 2 * by_rows(few));
  EXPECT_LT(regression_time_by_rows(many, cuda::kRegressionNaive, one), 1.5 * by_rows(many));
}

TEST(KernelRegressionTimesTest, one_group_for_all_rows_of_a_query_takes_less_where_rows_are_few) {
  const auto time = [](std::int64_t rows, std::int64_t queries) {
    return regression_time_by_rows(problem_of(rows, 577, queries), cuda::kRegressionOneKernel, {true, kUnits});
  };
  EXPECT_LT(time(60, 400), 0.5 * time(256, 400));
  EXPECT_GT(time(20, 10), 577 * cuda::kRegressionOneKernel.column);
}

TEST(KernelRegressionTimesTest, what_is_fastest_pays_and_nothing_else_with_a_model) {
  const KernelRegression problem = problem_of(458, 25, 18);
  const std::vector<RegressionExpected> all{{"naive", 11}, {"fused", 30}};
  EXPECT_TRUE(regression_is_fastest(problem, "naive", all));
  EXPECT_TRUE(regression_is_fastest(problem, "exact_bytes", all));
  const backend::Verdict verdict = regression_is_fastest(problem, "fused", all);
  EXPECT_FALSE(verdict);
  for (const char* told : {"18 queries", "30 us by fused", "11 by naive"}) {
    EXPECT_NE(verdict.because().find(told), std::string::npos) << verdict.because();
  }
}

}  // namespace
}  // namespace tessera::mathematics
