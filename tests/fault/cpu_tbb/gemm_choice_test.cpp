// What gemm's models of the time say for teams of threads that this machine may not have.
#include <gtest/gtest.h>

#include <cstdint>

#include "mathematics/division.h"
#include "ops/gemm/gemm_hand_over.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_blocks.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_steps.h"
#include "ops/gemm/gemm_register_turn.h"
#include "ops/gemm/gemm_split_k_parts.h"
#include "ops/gemm/gemm_thin_choice.h"

namespace tessera::fault {
namespace {

using cpu_tbb::batch_plan;
using cpu_tbb::BatchOrder;
using cpu_tbb::Blocks;
using cpu_tbb::Team;
using cpu_tbb::Turn;

constexpr int kTeams[] = {2, 3, 8, 16, 64, 256};

Gemm products(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
  Gemm problem{.m = m, .n = n, .k = k};
  problem.batch = batch;
  return with_layout(problem);
}

TEST(GemmChoiceTest, more_threads_cost_more_and_one_costs_nothing) {
  EXPECT_EQ(cpu_tbb::hand_over(1), 0);
  for (int threads = 2; threads < 300; ++threads)
    EXPECT_GT(cpu_tbb::hand_over(threads), cpu_tbb::hand_over(threads - 1)) << threads;
}

TEST(GemmChoiceTest, a_batch_that_takes_a_microsecond_stays_on_one_thread) {
  for (const int threads : kTeams) {
    const cpu_tbb::BatchPlan plan = batch_plan(products(10, 6, 67, 3), threads);
    EXPECT_EQ(plan.order, BatchOrder::side_by_side) << threads;
    EXPECT_EQ(plan.threads, 1) << threads;
  }
}

TEST(GemmChoiceTest, many_products_are_shared_and_a_few_large_ones_are_not) {
  for (const int threads : kTeams) {
    const cpu_tbb::BatchPlan many = batch_plan(products(60, 60, 60, 10000), threads);
    EXPECT_EQ(many.order, BatchOrder::side_by_side) << threads;
    EXPECT_EQ(many.threads, threads);
    if (threads == 2) continue;  // which have one each
    EXPECT_EQ(batch_plan(products(2048, 2048, 2048, 2), threads).order, BatchOrder::one_by_one) << threads;
  }
}

TEST(GemmChoiceTest, a_grid_is_chosen_that_takes_no_longer_than_one_block) {
  const cpu_tbb::RegisterTile tile{14, 32, true};
  for (const int threads : kTeams) {
    const Team team{threads, 0.1};
    for (const std::int64_t size : {1, 20, 64, 128, 200, 512, 1000}) {
      const Blocks chosen = cpu_tbb::register_blocks(size, size, size, tile, 1024, team);
      const Blocks one{size, mathematics::round_up(size, tile.columns), 1, 1};
      EXPECT_LE(cpu_tbb::register_time(chosen, size, size, team), cpu_tbb::register_time(one, size, size, team))
          << size << " on " << threads;
      const std::int64_t chunks = chosen.down * chosen.across;
      EXPECT_TRUE(size > 20 || chunks == 1) << size << " on " << threads;
      EXPECT_TRUE(size < 1000 || threads > 16 || chunks >= threads) << size << " on " << threads;
    }
  }
}

TEST(GemmChoiceTest, few_rows_of_a_transposed_b_are_computed_as_columns) {
  Gemm problem = products(13, 1000, 512, 1);
  EXPECT_EQ(cpu_tbb::turn_of(problem), Turn::none);
  problem.transpose_b = true;
  EXPECT_EQ(cpu_tbb::turn_of(problem), Turn::whole);
  problem.k = 1;  // C is most of the work
  EXPECT_EQ(cpu_tbb::turn_of(problem), Turn::none);
  problem.m = 1000;
  problem.k = 512;
  EXPECT_EQ(cpu_tbb::turn_of(problem), Turn::none);
  Gemm column = products(1000, 1, 512, 1);
  EXPECT_EQ(cpu_tbb::turn_of(column), Turn::none);
  column.transpose_a = true;
  EXPECT_EQ(cpu_tbb::turn_of(column), Turn::column);
}

/// Times of split_k over those of register on two threads of an EPYC with AVX-512 (without a file).
TEST(GemmChoiceTest, parts_of_k_are_for_what_caches_hold) {
  const Team team{2, 0};
  EXPECT_TRUE(cpu_tbb::split_k_pays(products(8, 200, 2000, 1), team));    // 0.77
  EXPECT_TRUE(cpu_tbb::split_k_pays(products(8, 32, 24000, 1), team));    // 0.51
  EXPECT_FALSE(cpu_tbb::split_k_pays(products(8, 401, 6000, 1), team));   // 2.1
  EXPECT_FALSE(cpu_tbb::split_k_pays(products(16, 200, 8000, 1), team));  // 1.57
}

TEST(GemmChoiceTest, sums_down_long_rows_or_few_columns_are_thin) {
  struct Case {
    std::int64_t m, n;
    bool transpose_a;
    DataType type;
    bool pays;
  };
  for (const Case& c : {Case{1, 4000, false, DataType::float32, true}, Case{1, 674, false, DataType::float32, true},
                        Case{1, 16, false, DataType::float32, false}, Case{4, 600, false, DataType::float32, false},
                        Case{4, 600, false, DataType::float64, true}, Case{6, 1000, false, DataType::float32, false},
                        Case{7, 1000, false, DataType::float32, false}, Case{8, 2048, false, DataType::float32, false},
                        Case{200, 2, true, DataType::float32, true}, Case{60, 4, true, DataType::float32, false},
                        Case{1000, 1, true, DataType::float32, true}, Case{2100, 6, true, DataType::float32, true},
                        Case{3, 768, false, DataType::float32, true}, Case{4, 4096, false, DataType::float32, true},
                        Case{5, 768, false, DataType::float32, true}}) {
    Gemm problem{.m = c.m, .n = c.n, .k = 1500, .type = c.type, .transpose_a = c.transpose_a};
    problem = with_layout(problem);
    EXPECT_EQ(static_cast<bool>(cpu_tbb::thin_pays(problem)), c.pays) << c.m << " x " << c.n;
  }
}

/// Times of `thin` and `register` on two threads of an EPYC, in microseconds; no committed file has them.
TEST(GemmChoiceTest, sums_along_rows_are_thin_where_they_are_long) {
  if (cpu_tbb::register_tile<float>().columns != 32) GTEST_SKIP() << "these were measured with AVX-512";
  struct Case {
    std::int64_t rows, columns, k;
    bool pays;
  };
  for (const Case& c : {Case{4, 1600, 400, true},    // 22.9 and 63
                        Case{7, 1600, 200, true},    // 23.5 and 33.1
                        Case{12, 1600, 400, true},   // 49.6 and 67.6
                        Case{12, 400, 64, false},    // 6.5 and 3.2
                        Case{12, 1600, 83, false},   // 22.9 and 16.9
                        Case{9, 400, 83, false}}) {  // 4.7 and 3.5
    Gemm problem{.m = c.rows, .n = c.columns, .k = c.k, .transpose_b = true};
    problem = with_layout(problem);
    EXPECT_EQ(static_cast<bool>(cpu_tbb::thin_pays(problem)), c.pays) << c.rows << " x " << c.columns << " x " << c.k;
  }
}

/// Times of `thin` and `register` on two threads of a Xeon (Cascade Lake), in milliseconds; no committed file has them.
TEST(GemmChoiceTest, sums_along_rows_that_are_far_away_are_thin) {
  if (cpu_tbb::register_tile<float>().columns != 32) GTEST_SKIP() << "these were measured with AVX-512";
  struct Case {
    std::int64_t rows, columns, k;
    DataType type;
    bool pays;
  };
  for (const Case& c : {Case{7247, 9, 850, DataType::float64, true},    // 4.0 and 7.5
                        Case{3000, 12, 2000, DataType::float64, true},  // 4.9 and 6.8
                        Case{1500, 12, 700, DataType::float64, true},   // 0.78 and 1.13
                        Case{2000, 10, 4000, DataType::float32, true},  // 2.9 and 3.6
                        Case{20000, 12, 40, DataType::float64, false},  // by the model alone it takes 1.5 times as long
                        Case{40, 12, 100, DataType::float64, false}}) {  // the same, and it is near
    Gemm problem{.m = c.rows, .n = c.columns, .k = c.k, .type = c.type};
    problem = with_layout(problem);
    EXPECT_EQ(static_cast<bool>(cpu_tbb::thin_pays(problem)), c.pays) << c.rows << " x " << c.columns << " x " << c.k;
  }
}

TEST(GemmChoiceTest, rows_a_multiple_of_a_page_apart_share_lines) {
  for (const std::int64_t step : {4096, 8192, 16384, 4096 - 64, 8192 + 60})
    EXPECT_TRUE(cpu_tbb::shares_lines(step, 4096)) << step;
  for (const std::int64_t step : {2048, 4000, 4096 + 64, 6144, 4096 - 68})
    EXPECT_FALSE(cpu_tbb::shares_lines(step, 4096)) << step;
  EXPECT_TRUE(cpu_tbb::shares_lines(6144, 2048));
}

}  // namespace
}  // namespace tessera::fault
