// The tool waits for threads that spin, and for nothing else.
#include "tools/bench/settle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tessera::tool {
namespace {

using Clock = std::chrono::steady_clock;

/// A thread that uses a processor until it is told to stop, or until its time is over.
class Spinner {
 public:
  explicit Spinner(std::chrono::milliseconds time)
      : thread_([this, end = Clock::now() + time] {
          while (!stop_ && Clock::now() < end) {
          }
        }) {}
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  ~Spinner() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST(SettleTest, returns_at_once_where_nothing_spins) {
  EXPECT_TRUE(settle(10));
}

TEST(SettleTest, waits_for_a_thread_that_spins) {
  const auto start = Clock::now();
  const Spinner spinner(std::chrono::milliseconds(100));
  EXPECT_TRUE(settle(10));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(90));
}

TEST(SettleTest, does_not_wait_for_ever) {
  const Spinner spinner(std::chrono::seconds(60));
  EXPECT_FALSE(settle(0.05));
}

TEST(RestTest, stops_waiting_long_for_threads_that_never_rest) {
  const Spinner spinner(std::chrono::seconds(60));
  Rest rest;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rest.wait());
  const auto start = Clock::now();
  EXPECT_FALSE(rest.wait());
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(300));
}

}  // namespace
}  // namespace tessera::tool
