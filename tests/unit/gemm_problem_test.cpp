// gemm in the front half: what a correct problem is, and which operands it takes.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(GemmProblemTest, wrong_problems_are_refused_by_field) {
  const Device device = open("minimal:0");
  const auto make = [&](const Gemm& problem) { (void)device.kernel(problem); };
  EXPECT_ERROR(make({.m = -1}), ErrorCode::invalid_argument, "m of gemm is -1", "at least 0");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .lda = 3}), ErrorCode::invalid_argument, "lda of gemm is 3", "k = 5");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .transpose_a = true, .lda = 1}), ErrorCode::invalid_argument, "m = 2");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .ldb = 2}), ErrorCode::invalid_argument, "ldb of gemm is 2", "n = 3");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .transpose_b = true, .ldb = 4}), ErrorCode::invalid_argument, "k = 5");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .ldc = 2}), ErrorCode::invalid_argument, "ldc of gemm is 2", "n = 3");
  EXPECT_ERROR(make({.m = 2, .n = 3, .k = 5, .ldc = -9}), ErrorCode::invalid_argument, "ldc of gemm is -9");
  EXPECT_ERROR(make({.m = 2, .alpha = -1e300}), ErrorCode::invalid_argument, "alpha of gemm is -1e+300", "float32");
  EXPECT_ERROR(make({.m = 2, .beta = 4e38}), ErrorCode::invalid_argument, "beta of gemm is 4e+38", "3.40282e+38");
  make({.m = 2, .type = DataType::float64, .alpha = 1e300});
  EXPECT_ERROR(make({.m = 2, .type = DataType::int32}), ErrorCode::invalid_argument, "int32", "float32 or float64");
  EXPECT_ERROR(make({.m = INT64_MAX / 2, .n = 16, .k = 0}), ErrorCode::invalid_argument, "operand a", "passes");
  EXPECT_ERROR(make({.m = INT64_MAX / 2, .n = 0, .k = 0}), ErrorCode::invalid_argument, "passes", "281474976710656");
  EXPECT_ERROR(make({.m = std::int64_t{1} << 40, .n = 1 << 10, .k = 0}), ErrorCode::invalid_argument, "operand c");
}

TEST(GemmProblemTest, leading_dimensions_are_filled_in) {
  const Device device = open("minimal:0");
  const auto kernel = device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .transpose_a = true});
  EXPECT_EQ(kernel.problem().lda, 2);
  EXPECT_EQ(kernel.problem().ldb, 3);
  EXPECT_EQ(kernel.problem().ldc, 3);
}

TEST(GemmProblemTest, strides_of_a_batch_are_filled_in_and_counted) {
  const Device device = open("minimal:0");
  const auto packed = device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .transpose_a = true, .ldb = 4, .batch = 7}).problem();
  EXPECT_EQ(packed.stride_a, 10);
  EXPECT_EQ(packed.stride_b, 20);
  EXPECT_EQ(packed.stride_c, 6);
  (void)device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .ldc = 9, .batch = 3, .stride_c = 3});  // side by side
  EXPECT_ERROR((void)device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .batch = 3, .stride_c = 3}),
               ErrorCode::invalid_argument, "stride_c of gemm is 3", "overlap");

  Queue queue(device);
  const auto kernel = device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .batch = 4, .stride_a = 0});
  const auto a = device.upload<float>(std::vector<float>(10, 1));  // one for all
  const auto b = device.upload<float>(std::vector<float>(60, 2));
  const auto c = device.allocate<float>(24);
  queue.run(kernel, {.a = a, .b = b, .c = c});
  EXPECT_EQ(queue.download(c).get(), std::vector<float>(24, 10));
  const auto small = device.allocate<float>(59);
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = small, .c = c}), ErrorCode::invalid_argument, "operand b", "60");
}

TEST(GemmProblemTest, a_queue_keeps_one_workspace_for_all_its_kernels) {
  const Device device = open("minimal:0");
  const auto make = [&](std::int64_t n, std::int64_t k) {
    return device.kernel(Gemm{.m = 2, .n = n, .k = k}, {.variant = "turned"});
  };
  const auto small = make(3, 5);
  const auto large = make(7, 11);
  EXPECT_EQ(small.info().workspace_bytes, 3 * 5 * sizeof(float));
  EXPECT_EQ(make(3, 0).info().workspace_bytes, 0U);
  const auto a = device.upload<float>(std::vector<float>(22, 1));
  const auto b = device.upload<float>(std::vector<float>(77, 2));
  const auto c = device.allocate<float>(14);
  const std::uint64_t before = device.memory().in_use_bytes;
  {
    Queue queue(device, {.label = "q"});
    queue.run(large, {.a = a, .b = b, .c = c});
    EXPECT_EQ(queue.download(c).get(), std::vector<float>(14, 22));
    EXPECT_EQ(device.memory().in_use_bytes, before + large.info().workspace_bytes);
    queue.run(small, {.a = a, .b = b, .c = c});
    queue.run(large, {.a = a, .b = b, .c = c});
    EXPECT_EQ(device.memory().in_use_bytes, before + large.info().workspace_bytes);
    Queue other(device);
    other.run(small, {.a = a, .b = b, .c = c});
    EXPECT_EQ(device.memory().in_use_bytes, before + large.info().workspace_bytes + small.info().workspace_bytes);
    other.run(large, {.a = a, .b = b, .c = c});
    EXPECT_EQ(device.memory().in_use_bytes, before + 2 * large.info().workspace_bytes);
    other.finish();
  }
  EXPECT_EQ(device.memory().in_use_bytes, before);
}

TEST(GemmProblemTest, a_workspace_that_does_not_fit_is_named) {
  const Device device = open("minimal:0?memory=20000");
  const auto kernel = device.kernel(Gemm{.m = 1, .n = 40, .k = 50}, {.variant = "turned"});
  const auto a = device.allocate<float>(50);
  const auto b = device.allocate<float>(2000);
  const auto c = device.allocate<float>(40);
  const auto filler = device.allocate<float>(1000, {.label = "filler"});
  Queue queue(device, {.label = "q"});
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = b, .c = c}), ErrorCode::out_of_memory, "8000 bytes",
               "unlabelled of 8000");
  queue.finish();  // nothing was queued
}

TEST(GemmProblemTest, operands_are_checked_before_anything_is_queued) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto kernel = device.kernel(Gemm{.m = 2, .n = 3, .k = 5, .ldc = 4}, {.label = "layer 1"});
  const auto a = device.allocate<float>(10);
  const auto b = device.allocate<float>(15);
  const auto c = device.allocate<float>(7);  // (2 - 1) * 4 + 3: the last row has no gap behind it
  queue.run(kernel, {.a = a, .b = b, .c = c});
  queue.finish();
  const auto small = device.allocate<float>(6);
  const auto wide = device.allocate<double>(100);
  const Device again = open("minimal:0");
  const auto elsewhere = again.allocate<float>(100);
  const auto code = ErrorCode::invalid_argument;
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = b, .c = small}), code, "operand c", "6 elements", "7", "'layer 1'");
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = wide, .c = c}), code, "operand b", "float64", "float32");
  EXPECT_ERROR(queue.run(kernel, {.a = {}, .b = b, .c = c}), code, "operand a", "holds nothing");
  EXPECT_ERROR(queue.run(kernel, {.a = elsewhere, .b = b, .c = c}), code, "operand a", "opened another time");
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = c, .c = c}), code, "operand b", "7 elements");
  EXPECT_ERROR(queue.run(kernel, {.a = a, .b = b, .c = b}), code, "operand c", "overlaps operand b");
  Queue other(again);
  EXPECT_ERROR(other.run(kernel, {.a = a, .b = b, .c = c}), code, "opened another time");
}

TEST(GemmProblemTest, variants_and_their_times_are_explained) {
  const Device device = open("minimal:0");
  const Gemm problem{.m = 11, .n = 13, .k = 17};
  const auto kernel = device.kernel(problem);
  remember_time(kernel, device, 0.25);
  const auto reports = explain(problem, device);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports.front().variant, "naive");
  EXPECT_TRUE(reports.front().is_default);
  EXPECT_EQ(reports.front().measured_s, 0.25);
  EXPECT_FALSE(explain(Gemm{.m = 11, .n = 13, .k = 18}, device).front().measured_s);
  EXPECT_ERROR((void)device.kernel(problem, {.variant = "tiled"}), ErrorCode::invalid_argument, "'tiled'", "naive");
}

}  // namespace
}  // namespace tessera
