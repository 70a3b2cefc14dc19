// Memory on every device: buffers, views, transfers and fills of every element size.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class MemoryTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(MemoryTest);

/// count elements 1, 2, 3, ...
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i + 1);
  return values;
}

template <class T>
void expect_round_trip(const Device& device) {
  SCOPED_TRACE(to_string(data_type_of<T>));
  const auto host = numbers<T>(1003);
  const auto buffer = device.upload<T>(host);
  EXPECT_EQ(buffer.size(), host.size());
  EXPECT_EQ(buffer.size_bytes(), host.size() * sizeof(T));
  Queue queue(device);
  EXPECT_EQ(queue.download(buffer).get(), host);
  queue.fill(buffer.view(3, 501), static_cast<T>(77));
  auto expected = host;
  std::fill_n(expected.begin() + 3, 501, static_cast<T>(77));
  EXPECT_EQ(queue.download(buffer).get(), expected);
}

TEST_P(MemoryTest, every_type_goes_there_and_back_and_is_filled) {
  expect_round_trip<std::int8_t>(device());
  expect_round_trip<std::uint8_t>(device());
  expect_round_trip<std::int16_t>(device());
  expect_round_trip<std::uint16_t>(device());
  expect_round_trip<std::int32_t>(device());
  expect_round_trip<std::uint32_t>(device());
  expect_round_trip<std::int64_t>(device());
  expect_round_trip<std::uint64_t>(device());
  expect_round_trip<float>(device());
  expect_round_trip<double>(device());
}

TEST_P(MemoryTest, fills_of_every_length_leave_their_neighbours_alone) {
  const auto host = numbers<std::uint8_t>(64);
  Queue queue(device());
  for (const std::size_t first : {0, 1, 2, 3, 5}) {
    for (const std::size_t count : {0, 1, 2, 3, 4, 7, 17}) {
      SCOPED_TRACE(testing::Message() << first << " + " << count);
      const auto buffer = device().upload<std::uint8_t>(host);
      queue.fill(buffer.view(first, count), std::uint8_t{0xee});
      auto expected = host;
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{0xee});
      EXPECT_EQ(queue.download(buffer).get(), expected);
    }
  }
}

TEST_P(MemoryTest, nothing_is_a_size_too) {
  const auto empty = device().allocate<float>(0);
  EXPECT_TRUE(static_cast<bool>(empty));
  EXPECT_EQ(empty.size(), 0U);
  Queue queue(device());
  queue.upload(empty, std::vector<float>{});
  queue.fill(empty, 1.0F);
  queue.copy(empty, device().allocate<float>(0));
  EXPECT_TRUE(queue.download(empty).get().empty());
  const auto full = device().upload<float>(numbers<float>(3));
  EXPECT_EQ(full.view(3, 0).size(), 0U);
  queue.copy(full.view(1, 0), empty);
  EXPECT_EQ(queue.download(full).get(), numbers<float>(3));
}

TEST_P(MemoryTest, views_reach_their_part) {
  const auto buffer = device().upload<std::int32_t>(numbers<std::int32_t>(100));
  Queue queue(device());
  const auto part = buffer.view(10, 20).part(5, 3);
  EXPECT_EQ(queue.download(part).get(), (std::vector<std::int32_t>{16, 17, 18}));
  queue.upload(part, std::vector<std::int32_t>{-1, -2, -3});
  const BufferView<const std::int32_t> read_only = buffer.view(14, 5);
  EXPECT_EQ(queue.download(read_only).get(), (std::vector<std::int32_t>{15, -1, -2, -3, 19}));
}

TEST_P(MemoryTest, a_view_keeps_the_memory_alive) {
  auto buffer = device().upload<float>(numbers<float>(50));
  const auto view = buffer.view(40, 10);
  buffer.reset();
  EXPECT_FALSE(static_cast<bool>(buffer));
  const auto other = device().upload<float>(std::vector<float>(50, -1.0F));
  Queue queue(device());
  EXPECT_EQ(queue.download(view).get().front(), 41.0F);
}

TEST_P(MemoryTest, a_kernel_works_on_the_operands_of_each_run) {
  const auto kernel = device().kernel(Gemm{.m = 1, .n = 1, .k = 1});
  Queue queue(device());
  const auto two = device().upload<float>(std::vector<float>{2, 3});
  for (int i = 1; i <= 20; ++i) {
    // A driver may make the next buffer where this one was.
    const auto a = device().upload<float>(std::vector<float>{static_cast<float>(i)});
    const auto c = device().allocate<float>(1);
    queue.run(kernel, {.a = a, .b = two.view(static_cast<std::size_t>(i % 2), 1), .c = c});
    ASSERT_EQ(queue.download(c).get().front(), static_cast<float>(i * (2 + i % 2))) << i;
    if (i % 5 == 0) device().trim();
  }
}

TEST_P(MemoryTest, parts_past_the_end_are_refused) {
  const auto buffer = device().allocate<float>(10);
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{11, 0}, {0, 11}, {5, 6}, {5, SIZE_MAX - 2}}) {
    const Refusal refusal = refusal_of([&, f = first, c = count] { static_cast<void>(buffer.view(f, c)); });
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument);
    EXPECT_TRUE(contains(refusal.what, "10"));
  }
}

TEST_P(MemoryTest, host_memory_of_every_kind) {
  const auto host = numbers<double>(70001);
  const auto buffer = device().allocate<double>(host.size());
  Queue queue(device());
  std::vector<double> back(host.size());

  queue.upload(buffer, host);  // borrowed
  queue.download(buffer, back);
  queue.finish();
  EXPECT_EQ(back, host);

  auto moved = std::vector<double>(host.rbegin(), host.rend());
  queue.upload(buffer, std::move(moved));  // taken over
  EXPECT_EQ(queue.download(buffer).get().front(), host.back());

  auto pinned_in = device().allocate_pinned<double>(host.size());
  std::copy(host.begin(), host.end(), pinned_in.begin());
  auto pinned_out = device().allocate_pinned<double>(host.size());
  queue.upload(buffer, pinned_in);
  pinned_in = {};  // the queue keeps it
  queue.download(buffer, pinned_out);
  queue.finish();
  EXPECT_TRUE(std::equal(host.begin(), host.end(), pinned_out.begin(), pinned_out.end()));
}

TEST_P(MemoryTest, copies_on_the_device) {
  const auto source = device().upload<std::int16_t>(numbers<std::int16_t>(301));
  const auto target = device().upload<std::int16_t>(std::vector<std::int16_t>(301, 0));
  Queue queue(device());
  queue.copy(target.view(7, 100), source.view(201, 100));
  auto expected = std::vector<std::int16_t>(301, 0);
  std::iota(expected.begin() + 7, expected.begin() + 107, std::int16_t{202});
  EXPECT_EQ(queue.download(target).get(), expected);
  queue.copy(target.view(0, 50), target.view(50, 50));  // parts of one buffer that do not overlap
  std::copy_n(expected.begin() + 50, 50, expected.begin());
  EXPECT_EQ(queue.download(target).get(), expected);
}

TEST_P(MemoryTest, copies_from_every_other_device) {
  const std::size_t count = (std::size_t{5} << 20) + 3;  // several pieces of staging memory, the last one short
  const auto host = numbers<std::uint32_t>(count);
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE("from " + id);
    const Device other = open(id);
    const auto source = other.upload<std::uint32_t>(host);
    const auto target = device().allocate<std::uint32_t>(count);
    Queue queue(device());
    queue.fill(target, 0U);
    queue.copy(target.view(1, count - 2), source.view(2, count - 2));
    const auto found = queue.download(target).get();
    EXPECT_EQ(found.front(), 0U);
    EXPECT_EQ(found.back(), 0U);
    EXPECT_TRUE(std::equal(found.begin() + 1, found.end() - 1, host.begin() + 2));
  }
}

}  // namespace
}  // namespace tessera::testing_support
