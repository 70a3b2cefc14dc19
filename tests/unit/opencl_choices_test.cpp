// What the models by which OpenCL's variants of gemm, and the tiles of cnn_layer, are chosen say of problems whose
// times were measured on an H100, or where it says so an H200, through NVIDIA's OpenCL, in November 2026; no file is
// kept.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "opencl_facts.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_shallow.h"
#include "ops/gemm/gemm_split_choice.h"
#include "ops/gemm/gemm_thin.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {
namespace {

DeviceFacts h100() {
  DeviceFacts facts;
  facts.info.kind = DeviceKind::gpu;
  facts.info.compute_units = 132;
  facts.info.max_group_size = 1024;
  facts.info.max_group_extent[0] = 1024;
  facts.info.local_memory_bytes = 48 * 1024;
  facts.is_nvidia = true;
  facts.has_tensor_cores = true;
  facts.float64_tensor_cores = 90;
  return facts;
}

double thin_us(const Gemm& problem) {
  return choose_gemm_thin(with_layout(problem), h100()).microseconds;
}
double shallow_us(const Gemm& problem) {
  return gemm_shallow_microseconds(with_layout(problem), h100());
}
LocalTuning local_of(const Gemm& problem) {
  return choose_register_local(with_layout(problem), h100(), {{32, 32, 8, 4, 32, 4}, {64, 64, 8, 8, 32, 4}});
}

struct Measured {
  Gemm problem;
  double us;
};
/// A model may be off, most for what runs a few microseconds, but no more than by this factor.
constexpr double kOff = 1.5;
void expect_near(double us, const Measured& measured) {
  SCOPED_TRACE(::testing::Message() << measured.problem.m << " x " << measured.problem.n << " x "
                                    << measured.problem.k);
  EXPECT_LT(us, kOff * measured.us);
  EXPECT_GT(us, measured.us / kOff);
}

TEST(OpenclChoicesTest, thin_takes_about_what_was_measured) {
  constexpr double kDriver_us = 3;  // which its model leaves out
  const Measured all[]{
      {{.m = 1, .n = 1848, .k = 3296, .transpose_b = true}, 12.3},
      {{.m = 1, .n = 2048, .k = 8192, .transpose_b = true}, 26.3},
      {{.m = 1, .n = 2611, .k = 5907}, 29.0},
      {{.m = 3, .n = 768, .k = 3072, .transpose_b = true}, 9.7},
      {{.m = 6, .n = 1000, .k = 2048, .transpose_b = true}, 11.9},
      {{.m = 8, .n = 4096, .k = 4096, .transpose_b = true}, 36.1},
      {{.m = 8, .n = 4096, .k = 4096}, 31.4},
      {{.m = 1619, .n = 5, .k = 3866, .transpose_b = true}, 22.0},
      {{.m = 551, .n = 3, .k = 2779, .type = DataType::float64}, 15.3},
      {{.m = 42, .n = 5, .k = 70, .transpose_b = true, .batch = 407}, 19.0},
      {{.m = 398, .n = 8, .k = 492, .batch = 96}, 51.2},
  };
  for (const Measured& each : all) expect_near(thin_us(each.problem) + kDriver_us, each);
}

TEST(OpenclChoicesTest, shallow_takes_about_what_was_measured) {
  const Measured all[]{
      {{.m = 993, .n = 623, .k = 32}, 7.2},
      {{.m = 4000, .n = 4097, .k = 2}, 30.4},
      {{.m = 3805, .n = 3065, .k = 11}, 29.3},
      {{.m = 332, .n = 7, .k = 17, .batch = 425}, 13.9},
      {{.m = 7, .n = 332, .k = 17, .batch = 425}, 16.1},
      {{.m = 16, .n = 16, .k = 16, .batch = 4000}, 9.5},
      {{.m = 32, .n = 8, .k = 20, .batch = 5000}, 15.4},
      {{.m = 900, .n = 1400, .k = 20, .type = DataType::float64}, 12.3},
      {{.m = 1000, .n = 6, .k = 12, .type = DataType::float64, .batch = 300}, 23.3},
  };
  for (const Measured& each : all) expect_near(shallow_us(each.problem), each);
}

TEST(OpenclChoicesTest, more_of_anything_takes_longer) {
  const Gemm base{.m = 500, .n = 6, .k = 40, .batch = 30};
  for (std::int64_t Gemm::*field : {&Gemm::m, &Gemm::batch}) {
    Gemm more = base;
    more.*field *= 20;
    EXPECT_GT(shallow_us(more), shallow_us(base));
    EXPECT_GT(thin_us(more), thin_us(base));
  }
  Gemm longer = base;
  longer.k = 4000;
  EXPECT_GT(thin_us(longer), thin_us(base));
}

TEST(OpenclChoicesTest, no_launch_is_faster_than_the_driver) {
  EXPECT_GE(shallow_us({.m = 1, .n = 1, .k = 1}), 5);
  EXPECT_LE(shallow_us({.m = 1, .n = 1, .k = 1}), 7);
  EXPECT_GE(thin_us({.m = 1, .n = 1, .k = 1}), 5);
}

TEST(OpenclChoicesTest, shallow_takes_sums_of_64_and_no_longer_ones) {
  EXPECT_LT(shallow_us({.m = 100, .n = 100, .k = 64}), 100);
  EXPECT_GT(shallow_us({.m = 100, .n = 100, .k = 65}), 1e9);
}

TEST(OpenclChoicesTest, long_sums_of_a_small_product_are_split) {
  EXPECT_EQ(local_of({.m = 24, .n = 32, .k = 30094}).split_k, 128);
  EXPECT_EQ(local_of({.m = 24, .n = 32, .k = 100}).split_k, 1);
  EXPECT_EQ(local_of({.m = 4096, .n = 4096, .k = 4096}).split_k, 1);
}

TEST(OpenclChoicesTest, parts_are_joined_where_counters_and_workspace_suffice) {
  DeviceFacts facts = h100();
  const auto elements = [&](std::uint64_t blocks, std::int64_t parts) {
    return elements_of_joined_parts(facts, blocks, parts, 1024, DataType::float32);
  };
  EXPECT_EQ(elements(3, 4), 0) << "without fences";
  facts.has_device_fences = true;
  EXPECT_EQ(elements(3, 4), 3 * 4 * 1024);
  EXPECT_EQ(elements(3, 1), 0);
  EXPECT_EQ(elements(0, 4), 0);
  EXPECT_EQ(elements(4096, 4), 4096 * 4 * 1024) << "64 MiB";
  EXPECT_EQ(elements(4096, 5), 0);
  EXPECT_EQ(elements(4097, 2), 0);
  EXPECT_EQ(elements(std::uint64_t{1} << 60U, 128), 0);
}

TEST(OpenclChoicesTest, joined_parts_are_taken_sooner) {
  DeviceFacts facts = h100();
  const std::vector<LocalTileShape> shapes{{32, 32, 8, 4, 32, 4}, {64, 64, 8, 8, 32, 4}};
  const Gemm problem = with_layout(Gemm{.m = 100, .n = 100, .k = 300});  // 8.9 us in one part, 7.1 in four (H200)
  EXPECT_EQ(choose_register_local(problem, facts, shapes).split_k, 1);
  facts.has_device_fences = true;
  const LocalTuning joined = choose_register_local(problem, facts, shapes);
  EXPECT_GT(joined.split_k, 1);
  EXPECT_LT(joined.microseconds, 2 * 5.5) << "one launch, not two";
  const Gemm longer = with_layout(Gemm{.m = 30, .n = 65, .k = 9150});  // 9.7 us in 32 parts, 12.5 in 128
  EXPECT_EQ(choose_register_local(longer, facts, shapes).split_k, 32);
}

TEST(OpenclChoicesTest, implicit_gemm_local_takes_tile_and_parts_as_measured) {
  DeviceFacts facts = h100();
  facts.has_device_fences = true;
  const auto chosen = [&](const CnnLayer& layer) {
    const ImplicitGemmTuning tuning = choose_implicit_gemm_local(layer, facts,
                                                                 {{32, 32, 8, 4, 32, 4, 3, 0, true},
                                                                  {32, 64, 4, 4, 32, 2, 3, 0, true},
                                                                  {64, 64, 8, 8, 16, 2},
                                                                  {128, 64, 8, 8, 16}});
    return std::array{tuning.tile_m, tuning.tile_n, tuning.split_k};
  };
  using Tiles = std::array<std::int64_t, 3>;
  // The best of all on an H200: 33.2 us, with 32 x 64 42.2; 20.9 us, 22.9; 15.2 us in two parts, 19.6 in one.
  EXPECT_EQ(chosen({.input_channels = 147,
                    .output_channels = 22,
                    .height = 24,
                    .width = 24,
                    .filter_height = 9,
                    .filter_width = 9,
                    .padding = 4}),
            (Tiles{32, 32, 16}));
  EXPECT_EQ(chosen({.input_channels = 512,
                    .output_channels = 512,
                    .height = 7,
                    .width = 7,
                    .filter_height = 3,
                    .filter_width = 3,
                    .padding = 1}),
            (Tiles{32, 32, 16}));
  EXPECT_EQ(chosen({.input_channels = 64,
                    .output_channels = 64,
                    .height = 56,
                    .width = 56,
                    .filter_height = 3,
                    .filter_width = 3,
                    .padding = 1}),
            (Tiles{32, 32, 2}));
  // The study's: no parts, and a large tile.
  EXPECT_EQ(chosen({.input_channels = 256,
                    .output_channels = 256,
                    .height = 224,
                    .width = 224,
                    .filter_height = 5,
                    .filter_width = 5,
                    .padding = 2}),
            (Tiles{128, 64, 1}));
}

TEST(OpenclChoicesTest, register_local_takes_larger_tiles_for_larger_products) {
  EXPECT_EQ(local_of({.m = 256, .n = 256, .k = 256}).shape.tile_m, 32);
  EXPECT_EQ(local_of({.m = 2048, .n = 2048, .k = 2048}).shape.tile_m, 64);
}

TEST(OpenclChoicesTest, register_local_is_slow_to_read_for_few_rows_or_columns) {
  const Gemm column{.m = 1379, .n = 1, .k = 7815, .type = DataType::float64, .transpose_b = true};  // 58 us, thin 35
  EXPECT_GT(local_of(column).microseconds, 50);
  EXPECT_LT(1.5 * thin_us(column), local_of(column).microseconds);
  const Gemm rows{.m = 8, .n = 4096, .k = 4096};  // 60 us, thin 31
  EXPECT_GT(local_of(rows).microseconds, 45);
  EXPECT_LT(1.3 * thin_us(rows), local_of(rows).microseconds);
  EXPECT_LT(local_of({.m = 8, .n = 100, .k = 100}).microseconds, 10);
}

TEST(OpenclChoicesTest, split_takes_the_tile_that_was_measured_to_be_fastest) {
  // An H200, preparing included: 32 x 64 by single warps, 64 x 64 and 128 x 64 by warp groups.
  struct {
    std::int64_t m, n, k;
    std::int64_t tile_m;
  } const all[]{
      {512, 512, 512, 64},      // 16.6 us, 15.7, 16.7
      {1024, 1024, 1024, 128},  // 32.5, 27.0, 25.5
      {2048, 2048, 2048, 64},   // 173.5, 139.1, 143.5
      {4096, 4096, 4096, 64},   // 1335, 917, 1126
  };
  for (const auto& each : all) {
    const Gemm problem = with_layout({.m = each.m, .n = each.n, .k = each.k});
    const GemmSplitShape& shape = choose_gemm_split(problem, h100(), true);
    EXPECT_EQ(shape.tile_m(), each.tile_m) << each.m;
    EXPECT_EQ(shape.tile_n(), 64) << each.m;
    EXPECT_EQ(shape.panel_depth(), 32) << each.m;
    EXPECT_EQ(choose_gemm_split(problem, h100(), false).warp_groups, 0) << each.m;
  }
}

TEST(OpenclChoicesTest, split_prepares_at_least_what_a_stage_reads) {
  EXPECT_EQ(gemm_split_steps({.k = 0}), 2);
  EXPECT_EQ(gemm_split_steps({.k = 1}), 2);
  EXPECT_EQ(gemm_split_steps({.k = 33}), 4);
}

TEST(OpenclChoicesTest, rows_of_the_large_operand_have_as_many_lanes_as_they_are_few) {
  // Of few long rows a group must ask for enough at once, of many short ones lines are filled by 8.
  EXPECT_EQ(choose_gemm_thin(with_layout({.m = 1, .n = 1848, .k = 3296, .transpose_b = true}), h100()).lanes, 128);
  EXPECT_EQ(choose_gemm_thin(with_layout({.m = 5000, .n = 1, .k = 60}), h100()).lanes, 8);
}

}  // namespace
}  // namespace tessera::opencl
