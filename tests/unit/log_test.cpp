// The log: what is told to the program's function, on which threads, and what the function may do.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "expect_error.h"

namespace tessera {
namespace {

/// Gathers events of some kinds for as long as it lives.
class GatheredLog {
 public:
  explicit GatheredLog(LogKind kinds = LogKind::all) {
    set_log([this](const LogEvent& event) { add(event); }, kinds);
  }
  ~GatheredLog() { set_log({}); }
  GatheredLog(const GatheredLog&) = delete;
  GatheredLog& operator=(const GatheredLog&) = delete;

  [[nodiscard]] std::vector<LogEvent> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] std::vector<LogEvent> of(LogAction action) const {
    std::vector<LogEvent> found;
    for (const LogEvent& event : events()) {
      if (event.action == action) found.push_back(event);
    }
    return found;
  }

 private:
  void add(const LogEvent& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  mutable std::mutex mutex_;
  std::vector<LogEvent> events_;
};

/// Everything that the log tells of, on a device of its own.
void do_a_little() {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto a = device.upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device.allocate<float>(4);
  queue.run(device.kernel(Gemm{.m = 2, .n = 2, .k = 2}), {.a = a, .b = a, .c = c});
  EXPECT_EQ(queue.download(c).get(), (std::vector<float>{7, 10, 15, 22}));
}

bool says(const LogEvent& event, const std::string& part) {
  return event.text.find(part) != std::string::npos;
}

TEST(LogTest, tells_only_of_the_kinds_that_are_asked_for) {
  for (const LogKind kind : {LogKind::choice, LogKind::compile, LogKind::copy, LogKind::memory}) {
    const GatheredLog log(kind);
    do_a_little();
    EXPECT_FALSE(log.events().empty()) << to_string(kind);
    for (const LogEvent& event : log.events()) {
      EXPECT_EQ(to_string(event.kind), to_string(kind)) << event.text;
      EXPECT_EQ(event.device, "minimal:0") << event.text;
      EXPECT_EQ(event.text.find('\n'), std::string::npos) << event.text;
    }
  }
  const GatheredLog two(LogKind::copy | LogKind::choice);
  do_a_little();
  for (const LogEvent& event : two.events()) {
    EXPECT_TRUE(event.kind == LogKind::copy || event.kind == LogKind::choice) << event.text;
  }
  EXPECT_EQ(two.events().size(), 3U) << "a choice, an upload and a download";
}

TEST(LogTest, a_choice_says_what_was_chosen_and_why) {
  const Device device = open("minimal:0");
  const GatheredLog log(LogKind::choice);
  (void)device.kernel(Gemm{.m = 2, .n = 3, .k = 5}, {.label = "first"});
  (void)device.kernel(Gemm{.m = 2, .n = 3, .k = 5}, {.variant = "turned"});
  ASSERT_EQ(log.events().size(), 2U);
  const LogEvent first = log.events()[0];
  EXPECT_EQ(first.action, LogAction::choose);
  EXPECT_EQ(first.subject, "naive");
  for (const char* part : {"gemm", "'first'", "minimal:0", "naive", "m=2", "n=3", "k=5", "first of the list"}) {
    EXPECT_TRUE(says(first, part)) << first.text;
  }
  EXPECT_EQ(log.events()[1].subject, "turned");
  EXPECT_TRUE(says(log.events()[1], "the options force it")) << log.events()[1].text;
}

TEST(LogTest, a_filter_of_many_weights_does_not_fill_pages) {
  const Device device = open("minimal:0");
  const GatheredLog log(LogKind::choice);
  (void)device.kernel(Conv2d{
      .height = 99, .width = 99, .filter_height = 31, .filter_width = 31, .filter = std::vector<double>(961, 0.123)});
  ASSERT_EQ(log.events().size(), 1U);
  EXPECT_LT(log.events()[0].text.size(), 500U);
}

TEST(LogTest, copies_are_told_with_their_bytes_and_direction) {
  const Device device = open("minimal:0");
  Queue queue(device, {.label = "mine"});
  const auto first = device.allocate<int>(100);
  const auto second = device.allocate<int>(100);
  const GatheredLog log(LogKind::copy);
  queue.upload(first, std::vector<int>(100));
  queue.copy(second.view(0, 30), first.view(50, 30));
  queue.fill(first, 7);  // no copy
  (void)queue.download(second.view(0, 7)).get();
  const auto blocking = device.upload<int>(std::vector<int>(11));
  const auto events = log.events();
  ASSERT_EQ(events.size(), 4U);
  const std::vector<LogAction> actions{LogAction::upload, LogAction::copy, LogAction::download, LogAction::upload};
  const std::vector<std::uint64_t> bytes{400, 120, 28, 44};
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].action, actions[i]) << events[i].text;
    EXPECT_EQ(events[i].size_bytes, bytes[i]) << events[i].text;
    EXPECT_TRUE(says(events[i], std::to_string(bytes[i]))) << events[i].text;
  }
  EXPECT_EQ(events[0].subject, "mine");
}

TEST(LogTest, a_refused_copy_is_not_told) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const auto buffer = device.allocate<int>(3);
  const GatheredLog log(LogKind::copy);
  EXPECT_ERROR(queue.upload(buffer, std::vector<int>(4)), ErrorCode::invalid_argument, "4 elements");
  EXPECT_TRUE(log.events().empty());
}

TEST(LogTest, what_is_allocated_is_freed_in_the_end) {
  const GatheredLog log(LogKind::memory);
  {
    const Device device = open("minimal:0");
    Queue queue(device);
    const auto named = device.allocate<float>(1000, {.label = "weights"});
    const auto pinned = device.allocate_pinned<float>(10);
    const auto a = device.allocate<float>(16);
    const auto c = device.allocate<float>(16);
    queue.run(device.kernel(Gemm{.m = 4, .n = 4, .k = 4}, {.variant = "turned"}), {.a = a, .b = a, .c = c});
    queue.finish();
  }
  std::map<LogAction, std::uint64_t> bytes;
  for (const LogEvent& event : log.events()) bytes[event.action] += event.size_bytes;
  EXPECT_EQ(bytes[LogAction::allocate], 4000U + 40 + 2 * 64 + 64) << "buffers, pinned memory and a workspace";
  EXPECT_EQ(bytes[LogAction::free], bytes[LogAction::allocate]);
  EXPECT_GE(bytes[LogAction::reserve], 4000U);
  EXPECT_EQ(bytes[LogAction::release], bytes[LogAction::reserve]);
  EXPECT_EQ(log.of(LogAction::allocate)[0].subject, "weights");
}

TEST(LogTest, a_kernel_is_told_when_it_is_ready) {
  const Device device = open("minimal:0");
  const GatheredLog log(LogKind::compile);
  (void)device.kernel(Gemm{.m = 1, .n = 1, .k = 1}, {.label = "small"});
  (void)device.compile({.name = "mine", .parameters = {}, .cpu = [](const WorkGroup&) {}});
  const auto made = log.of(LogAction::make);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].subject, "gemm (naive) 'small'");
  EXPECT_EQ(made[1].subject, "mine (own)");
  EXPECT_GE(made[0].seconds, 0);
  EXPECT_LT(made[0].seconds, 60);
}

TEST(LogTest, a_label_is_told_as_it_was_given) {
  const Device device = open("minimal:0");
  const GatheredLog log(LogKind::memory);
  const auto buffer = device.allocate<int>(1, {.label = "two\nlines"});
  ASSERT_FALSE(log.of(LogAction::allocate).empty());
  EXPECT_EQ(log.of(LogAction::allocate)[0].subject, "two\nlines");
}

TEST(LogTest, a_function_that_throws_harms_nothing) {
  std::atomic<int> calls{0};
  set_log([&](const LogEvent&) {
    ++calls;
    if (calls % 2 == 0) throw std::runtime_error("the function is broken");
    throw 3;
  });
  do_a_little();
  set_log({});
  EXPECT_GT(calls, 5);
}

TEST(LogTest, the_function_may_use_the_library_and_does_not_hear_itself) {
  const Device device = open("minimal:0");
  std::atomic<int> calls{0};
  std::atomic<std::size_t> bytes{0};
  set_log([&](const LogEvent& event) {
    ++calls;
    const auto buffer = device.upload<int>(std::vector<int>(5));
    (void)device.kernel(Gemm{.m = 1, .n = 1, .k = 1});
    (void)open("minimal:0").trim();
    (void)device.trim();
    bytes += device.memory().in_use_bytes + event.size_bytes;
  });
  {
    const auto buffer = device.allocate<int>(10);
    (void)device.kernel(Gemm{.m = 1, .n = 1, .k = 1});
  }
  (void)device.trim();
  set_log({});
  EXPECT_EQ(calls, 6) << "allocate, reserve, choose, make, free, release";
}

TEST(LogTest, the_function_may_not_set_another_one) {
  const Device device = open("minimal:0");
  ErrorCode code = ErrorCode::internal;
  set_log(
      [&](const LogEvent&) {
        try {
          set_log({});
        } catch (const Error& error) {
          code = error.code();
        }
      },
      LogKind::choice);
  (void)device.kernel(Gemm{.m = 1, .n = 1, .k = 1});
  set_log({});
  EXPECT_EQ(code, ErrorCode::invalid_argument);
}

TEST(LogTest, a_function_that_was_replaced_runs_nowhere_any_more) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const Device device = open("minimal:0");
      while (!ends) (void)device.allocate<int>(10);
    });
  }
  for (int round = 0; round < 300; ++round) {
    auto lives = std::make_unique<std::atomic<int>>(1);  // a call after its end would be found by the sanitizers
    set_log([alive = lives.get()](const LogEvent&) { EXPECT_EQ(alive->load(), 1); }, LogKind::memory);
    std::this_thread::yield();
    set_log({});
    *lives = 0;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(LogTest, threads_are_heard_to_the_byte) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  std::atomic<std::uint64_t> uploaded{0};
  std::atomic<std::uint64_t> balance{0};
  set_log([&](const LogEvent& event) {
    if (event.action == LogAction::upload) uploaded += event.size_bytes;
    if (event.action == LogAction::allocate) balance += event.size_bytes;
    if (event.action == LogAction::free) balance -= event.size_bytes;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      const Device device = open("minimal:0");
      Queue queue(device);
      for (int round = 0; round < kRounds; ++round) {
        const auto buffer = device.allocate<std::uint8_t>(100);
        queue.upload(buffer, std::vector<std::uint8_t>(100));
      }
      queue.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_log({});
  EXPECT_EQ(uploaded, 100U * kThreads * kRounds);
  EXPECT_EQ(balance, 0U);
}

}  // namespace
}  // namespace tessera
