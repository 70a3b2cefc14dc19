// Memory and failures: what is in use is never handed out again, and running out reaches everything that is cached.
#include "scripted_test.h"

#include <array>

namespace tessera::testing {
namespace {

class MemoryFaultTest : public ScriptedTest {};

constexpr std::size_t kSize = 1000;
constexpr std::size_t kMost = Script::kMemoryBytes / 10 * 6;  // two of these do not fit

/// A queue with one command, which the script holds back: it writes 1 to all of a buffer that the program has let go
/// of.
struct Writing {
  explicit Writing(const Device& device) : queue(device) {
    script().hold();
    const auto buffer = device.allocate<int>(kSize);
    queue.fill(buffer, 1);
  }
  Queue queue;
};

void expect_nobody_else_gets_it(const Device& device) {
  const auto fresh = device.allocate<int>(kSize);
  Queue healthy(device);
  healthy.fill(fresh, 7);
  script().release();
  EXPECT_EQ(healthy.download(fresh).get(), std::vector<int>(kSize, 7));
}

TEST_F(MemoryFaultTest, a_poll_that_fails_is_no_answer) {
  const Device device = open("scripted:0");
  Writing writing(device);
  for (const Call call : {Call::record, Call::poll}) {
    script().fail(call, ErrorCode::out_of_memory);
    EXPECT_GE(device.memory().pending_bytes, kSize * sizeof(int));
    EXPECT_EQ(device.memory().cached_bytes, 0U);
    script().mend(call);
  }
  expect_nobody_else_gets_it(device);
  writing.queue.finish();
}

TEST_F(MemoryFaultTest, a_poisoned_queue_still_uses_its_memory) {
  const Device device = open("scripted:0");
  Writing writing(device);
  script().fail(Call::drain, ErrorCode::internal);  // so that the failure is told while the command is held
  script().fail(Call::enqueue, ErrorCode::internal, 1);
  const auto other = device.allocate<int>(1);
  EXPECT_ERROR(writing.queue.fill(other, 2), ErrorCode::internal);
  EXPECT_GE(device.memory().pending_bytes, kSize * sizeof(int));
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  script().mend(Call::drain);
  expect_nobody_else_gets_it(device);
}

TEST_F(MemoryFaultTest, a_queue_that_goes_still_uses_its_memory_until_it_has_waited) {
  const Device device = open("scripted:0");
  auto writing = std::make_unique<Writing>(device);
  std::thread closing([&] { writing.reset(); });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(device.memory().cached_bytes, 0U);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  script().release();
  closing.join();
  EXPECT_GE(device.memory().cached_bytes, kSize * sizeof(int));
}

TEST_F(MemoryFaultTest, shortage_reaches_every_opening_and_every_device_of_the_memory) {
  const Device first = open("scripted:0");
  const Device again = open("scripted:0");
  const Device neighbour = open("scripted:1");
  for (const Device* other : {&first, &again, &neighbour}) {
    { const auto buffer = first.allocate<char>(kMost); }  // cached by `first`
    EXPECT_GE(first.memory().cached_bytes, kMost);
    const auto buffer = other->allocate<char>(kMost + kMost / 4);  // not served by the cached block either
    EXPECT_TRUE(buffer);
  }
}

TEST_F(MemoryFaultTest, shortage_reaches_workspaces_and_the_backends_own_memory) {
  const Device device = open("scripted:0");
  Queue queue(device);
  {
    const Gemm problem{.m = 300, .n = 300, .k = 1};
    const auto kernel = device.kernel(problem);
    const auto a = device.allocate<float>(300);
    const auto c = device.allocate<float>(90000);
    queue.run(kernel, {.a = a, .b = a, .c = c});  // leaves the queue a workspace as large as c
    queue.finish();
  }
  EXPECT_EQ(device.memory().in_use_bytes, 360000U) << "the workspace counts";
  script().scratch_bytes = 100000;
  script().taken_bytes += 100000;
  EXPECT_EQ(device.memory().held_bytes, 100000U);
  EXPECT_TRUE(device.allocate<char>(Script::kMemoryBytes / 10 * 9));
  EXPECT_EQ(device.memory().held_bytes, 0U);
}

TEST_F(MemoryFaultTest, trim_gives_back_idle_workspaces_and_kernels_count) {
  const Device device = open("scripted:0");
  Queue queue(device);
  const auto kernel = device.kernel(Gemm{.m = 10, .n = 10, .k = 1});
  EXPECT_EQ(device.memory().held_bytes, 1000U);
  const auto a = device.allocate<float>(10);
  const auto c = device.allocate<float>(100);
  queue.run(kernel, {.a = a, .b = a, .c = c});
  queue.finish();
  EXPECT_EQ(device.memory().in_use_bytes, 840U);
  EXPECT_GE(device.trim(), 400U);
  EXPECT_EQ(device.memory().in_use_bytes, 440U);
  queue.run(kernel, {.a = a, .b = a, .c = c});  // takes a new one
  EXPECT_EQ(queue.download(c).get(), std::vector<float>(100, 0.0F));
}

TEST_F(MemoryFaultTest, kernels_and_pinned_memory_try_again_once_caches_are_empty) {
  const Device device = open("scripted:0");
  for (const Call call : {Call::make_kernel, Call::allocate_pinned}) {
    { const auto buffer = device.allocate<char>(1000); }
    script().fail(call, ErrorCode::out_of_memory, 1);
    if (call == Call::make_kernel) {
      (void)device.kernel(Gemm{.m = 2, .n = 2, .k = 2});
    } else {
      (void)device.allocate_pinned<char>(10);
    }
    EXPECT_EQ(device.memory().cached_bytes, 0U);
  }
  script().fail(Call::allocate_pinned, ErrorCode::out_of_memory);
  const auto pinned_one = device.allocate<char>(5000, {.label = "the ballast"});
  EXPECT_ERROR((void)device.allocate_pinned<char>(10), ErrorCode::out_of_memory, "pinned memory of 10 bytes");
}

TEST_F(MemoryFaultTest, the_largest_holders_of_all_devices_are_named) {
  const Device first = open("scripted:0");
  const Device neighbour = open("scripted:1");
  const auto small = first.allocate<char>(1000, {.label = "a small one"});
  const auto large = neighbour.allocate<char>(kMost, {.label = "the neighbour's"});
  EXPECT_ERROR((void)first.allocate<char>(kMost), ErrorCode::out_of_memory, "'the neighbour's' of",
               "bytes on scripted:1 and 'a small one'");
}

TEST_F(MemoryFaultTest, two_threads_short_of_memory_raise_no_false_alarm) {
  const Device device = open("scripted:0");
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> failures{0};
    Queue queue(device);
    script().hold();
    for (int i = 0; i < 2; ++i) queue.fill(device.allocate<char>(Script::kMemoryBytes / 10 * 4), 'x');
    const auto take = [&] {
      try {
        const auto buffer = device.allocate<char>(Script::kMemoryBytes / 10 * 4 - 50000);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } catch (const Error&) {
        ++failures;
      }
    };
    std::thread first(take);
    std::thread second(take);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    script().release();
    first.join();
    second.join();
    EXPECT_EQ(failures, 0);
    (void)device.trim();
  }
}

}  // namespace
}  // namespace tessera::testing
