// Queues: lifetimes of what they borrow and keep, and what a failure leaves behind.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <type_traits>

#include "expect_error.h"

namespace tessera {
namespace {

OwnKernel throwing_kernel(const Device& device) {
  return device.compile({.name = "fails",
                         .parameters = {output<float>("x")},
                         .cpu = [](const WorkGroup&, std::span<float>) { throw std::runtime_error("it is broken"); },
                         .label = "the third layer"});
}

TEST(QueueTest, uploads_and_downloads_from_every_kind_of_host_memory) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto buffer = device.allocate<int>(3);
  const std::array<int, 3> borrowed{1, 2, 3};
  queue.upload(buffer, borrowed);
  EXPECT_EQ(queue.download(buffer).get(), (std::vector{1, 2, 3}));
  queue.upload(buffer, std::vector{4, 5, 6});
  std::vector<int> host(3);
  queue.download(buffer, host);
  queue.finish();
  EXPECT_EQ(host, (std::vector{4, 5, 6}));
  const auto pinned = device.allocate_pinned<int>(3);
  std::copy(borrowed.begin(), borrowed.end(), pinned.begin());
  queue.upload(buffer, pinned);
  queue.fill(pinned.size() == 3 ? buffer.view(0, 1) : buffer.view(), 9);
  queue.download(buffer, pinned);
  queue.finish();
  EXPECT_EQ(pinned[0], 9);
  EXPECT_EQ(pinned[2], 3);
}

template <class Host>
constexpr bool kUploads = requires(Queue queue, Buffer<int> buffer, Host host) {
  queue.upload(buffer, std::forward<Host>(host));
};
template <class Host>
constexpr bool kDownloads = requires(Queue queue, Buffer<int> buffer, Host host) {
  queue.download(buffer, std::forward<Host>(host));
};

TEST(QueueTest, temporaries_that_would_dangle_do_not_compile) {
  static_assert(kUploads<std::vector<int>&>);
  static_assert(kUploads<std::vector<int>&&>);  // taken over
  static_assert(kUploads<std::array<int, 3>&>);
  static_assert(!kUploads<std::array<int, 3>&&>);
  static_assert(kUploads<std::span<const int>&&>);
  static_assert(kDownloads<std::vector<int>&>);
  static_assert(!kDownloads<std::vector<int>&&>);
}

TEST(QueueTest, lengths_must_agree) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto buffer = device.allocate<int>(3);
  const auto other = device.allocate<int>(4);
  const std::vector<int> host(2);
  EXPECT_ERROR(queue.upload(buffer, host), ErrorCode::invalid_argument, "2 elements", "has 3");
  EXPECT_ERROR(queue.copy(buffer, other), ErrorCode::invalid_argument, "4 elements", "has 3");
  EXPECT_ERROR(queue.copy(other.view(0, 3), other.view(1, 3)), ErrorCode::invalid_argument, "overlaps");
  EXPECT_ERROR(queue.fill(Buffer<int>(), 1), ErrorCode::invalid_argument, "holds nothing");
  queue.fill(buffer, 5);  // the refusals left the queue as it was
  EXPECT_EQ(queue.download(buffer).get(), (std::vector{5, 5, 5}));
}

TEST(QueueTest, copies_between_devices) {
  const Device first = open("minimal:0");
  const Device second = open("minimal:0");
  std::vector<std::uint8_t> host(20'000'001);  // three pieces of staging memory, the last one odd
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  const auto source = first.upload<std::uint8_t>(host);
  const auto destination = second.allocate<std::uint8_t>(host.size());
  Queue queue(second);
  queue.copy(destination, source);
  EXPECT_EQ(queue.download(destination).get(), host);
}

TEST(QueueTest, buffers_of_another_opening_are_refused) {
  const Device first = open("minimal:0");
  const Device second = open("minimal:0");
  const auto buffer = first.allocate<int>(1);
  Queue queue(second, {.label = "uploads"});
  EXPECT_ERROR(queue.fill(buffer, 1), ErrorCode::invalid_argument, "minimal:0", "'uploads'", "another opening");
}

TEST(QueueTest, a_failed_command_poisons_the_queue_for_good) {
  const Device device = open("minimal:0");
  Queue queue(device, {.label = "main"});
  const auto buffer = device.allocate<float>(4);
  queue.fill(buffer, 1.0F);
  queue.launch(throwing_kernel(device), {}, buffer);
  queue.fill(buffer, 2.0F);  // after the failure: left out
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR(queue.finish(), ErrorCode::internal, "it is broken", "command 2", "fails (own) 'the third layer'",
                 "'main'");
  }
  EXPECT_ERROR(queue.fill(buffer, 3.0F), ErrorCode::internal, "it is broken");
  EXPECT_ERROR((void)queue.record(), ErrorCode::internal, "it is broken");
  Queue fresh(device);
  EXPECT_EQ(fresh.download(buffer).get(), std::vector<float>(4, 1.0F));
}

TEST(QueueTest, an_event_tells_the_failure_before_it) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto buffer = device.allocate<float>(1);
  queue.launch(throwing_kernel(device), {}, buffer);
  const Event event = queue.record();
  EXPECT_ERROR(event.wait(), ErrorCode::internal, "it is broken", "command 1");
  EXPECT_ERROR((void)event.is_done(), ErrorCode::internal, "it is broken");
}

TEST(QueueTest, a_moved_from_queue_says_so) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const Queue taken = std::move(queue);
  EXPECT_ERROR(queue.finish(), ErrorCode::invalid_argument, "moved from");  // NOLINT(bugprone-use-after-move)
}

TEST(QueueTest, kernels_and_host_memory_live_until_the_queue_is_past_them) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto buffer = device.allocate<float>(1);
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = alive;
  for (int i = 0; i < 1000; ++i) {
    queue.launch(device.compile({.name = "counts",
                                 .parameters = {output<float>("x")},
                                 .cpu = [alive](const WorkGroup&, std::span<float> x) { x[0] += 1.0F; }}),
                 {}, buffer);
    queue.upload(device.allocate<float>(1), std::vector{1.0F});
  }
  alive.reset();
  EXPECT_FALSE(watch.expired());  // the last kernels are still held
  queue.finish();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace tessera
