// Which batches of products are one product of all their rows.
#include "mathematics/gemm_in_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tessera::mathematics {
namespace {

Gemm batch_of_one_b() {
  Gemm problem{.m = 5, .n = 7, .k = 3};
  problem.batch = 4;
  problem.stride_b = 0;
  return problem;
}

Gemm in_rows_of(const Gemm& problem) {
  return gemm_in_rows(with_layout(problem));
}

TEST(GemmInRowsTest, rows_that_follow_each_other_are_one_product) {
  Gemm problem = batch_of_one_b();
  problem.lda = 6;
  problem.ldc = 9;
  problem.transpose_b = true;
  problem.beta = 0.5;
  Gemm expected = with_layout(problem);
  expected.m = 20;
  expected.batch = 1;
  EXPECT_EQ(in_rows_of(problem), expected);
}

TEST(GemmInRowsTest, others_are_as_they_are) {
  const auto is_as_it_is = [](const Gemm& problem) { return in_rows_of(problem) == with_layout(problem); };
  Gemm own_b = batch_of_one_b();
  own_b.stride_b = Gemm::kPacked;
  EXPECT_TRUE(is_as_it_is(own_b));
  Gemm gaps_in_a = batch_of_one_b();
  gaps_in_a.stride_a = 16;
  EXPECT_TRUE(is_as_it_is(gaps_in_a));
  Gemm one_a = batch_of_one_b();
  one_a.stride_a = 0;
  EXPECT_TRUE(is_as_it_is(one_a));
  Gemm gaps_in_c = batch_of_one_b();
  gaps_in_c.stride_c = 36;
  EXPECT_TRUE(is_as_it_is(gaps_in_c));
  Gemm side_by_side = batch_of_one_b();
  side_by_side.ldc = 28;
  side_by_side.stride_c = 7;
  EXPECT_TRUE(is_as_it_is(side_by_side));
  Gemm columns = batch_of_one_b();
  columns.transpose_a = true;
  EXPECT_TRUE(is_as_it_is(columns));
  Gemm alone = batch_of_one_b();
  alone.batch = 1;
  EXPECT_TRUE(is_as_it_is(alone));
  Gemm none = batch_of_one_b();
  none.batch = 0;
  EXPECT_TRUE(is_as_it_is(none));
}

TEST(GemmInRowsTest, empty_and_endless_problems_are_as_they_are) {
  Gemm empty = batch_of_one_b();
  empty.k = 0;
  empty.stride_b = 0;
  EXPECT_EQ(in_rows_of(empty).batch, 4);  // rows of A have no length by which they could follow each other
  Gemm endless = batch_of_one_b();
  endless.m = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(gemm_in_rows(endless), endless);
}

}  // namespace
}  // namespace tessera::mathematics
