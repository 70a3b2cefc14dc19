// Buffers and views: parts, ownership and what is left after a move.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <type_traits>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(BufferTest, parts_are_checked_against_the_end) {
  const Device device = open("minimal:0");
  const auto buffer = device.allocate<float>(10, {.label = "weights"});
  EXPECT_EQ(buffer.view(10, 0).size(), 0U);
  EXPECT_EQ(buffer.view(2, 8).part(3, 5).untyped().offset_bytes(), 20U);
  EXPECT_ERROR((void)buffer.view(3, 8), ErrorCode::invalid_argument, "element 3", "8 long", "'weights'", "10 elements");
  EXPECT_ERROR((void)buffer.view(SIZE_MAX, 2), ErrorCode::invalid_argument, "10 elements");
  EXPECT_ERROR((void)buffer.view(1, SIZE_MAX), ErrorCode::invalid_argument, "10 elements");
}

TEST(BufferTest, moved_from_and_reset_buffers_hold_nothing) {
  const Device device = open("minimal:0");
  auto first = device.allocate<int>(4);
  auto second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(second);
  second.reset();
  EXPECT_FALSE(second);
  EXPECT_ERROR((void)second.view(0, 0), ErrorCode::invalid_argument, "holds nothing");
}

TEST(BufferTest, a_view_keeps_the_memory_alive) {
  const Device device = open("minimal:0");
  BufferView<int> view;
  {
    const auto buffer = device.upload<int>(std::vector{1, 2, 3});
    view = buffer.view(1, 2);
  }
  EXPECT_GT(device.memory().in_use_bytes, 0U);
  Queue queue(device);
  EXPECT_EQ(queue.download(view).get(), (std::vector{2, 3}));
}

TEST(BufferTest, const_views_cannot_be_written) {
  static_assert(!std::is_constructible_v<Operand, BufferView<const float>>);
  static_assert(std::is_constructible_v<ConstOperand, BufferView<const float>>);
  static_assert(!std::is_convertible_v<BufferView<const float>, BufferView<float>>);
  static_assert(!std::is_copy_constructible_v<Buffer<float>>);
}

TEST(BufferTest, a_typed_view_is_of_its_type_only) {
  const Device device = open("minimal:0");
  const UntypedView doubles = device.allocate_untyped(DataType::float64, 4);
  EXPECT_ERROR(BufferView<float>{doubles}, ErrorCode::invalid_argument, "float64", "float32");
  EXPECT_ERROR(BufferView<const float>{doubles}, ErrorCode::invalid_argument, "float64", "float32");
  EXPECT_ERROR(Buffer<std::int64_t>{doubles}, ErrorCode::invalid_argument, "float64", "int64");
  EXPECT_EQ(Buffer<double>(doubles).size(), 4U);
  EXPECT_EQ(BufferView<double>(doubles.part(1, 2)).untyped().offset_bytes(), 8U);
  EXPECT_FALSE(BufferView<double>(UntypedView()));
}

TEST(BufferTest, a_read_only_view_is_not_taken_for_a_writable_one) {
  const Device device = open("minimal:0");
  const UntypedView view = device.allocate_untyped(DataType::float64, 4);
  EXPECT_ERROR(BufferView<double>{view.as_const()}, ErrorCode::invalid_argument, "read-only", "float64");
  EXPECT_ERROR(Buffer<double>{view.as_const()}, ErrorCode::invalid_argument, "read-only", "float64");
  EXPECT_FALSE(BufferView<const double>(view).untyped().writable());
  EXPECT_TRUE(BufferView<double>(view).untyped().writable());
}

TEST(BufferTest, sizes_that_overflow_are_refused) {
  const Device device = open("minimal:0");
  EXPECT_ERROR((void)device.allocate<double>(SIZE_MAX / 4), ErrorCode::invalid_argument, "8 bytes", "minimal:0");
  EXPECT_ERROR((void)device.allocate_pinned<double>(SIZE_MAX / 4), ErrorCode::invalid_argument, "8 bytes");
}

TEST(BufferTest, no_elements_are_allowed) {
  const Device device = open("minimal:0");
  const auto buffer = device.allocate<float>(0);
  EXPECT_TRUE(buffer);
  Queue queue(device);
  queue.fill(buffer, 1.0F);
  EXPECT_TRUE(queue.download(buffer).get().empty());
}

}  // namespace
}  // namespace tessera
