// What others take of the machine, seen with a child process that computes.
#include "tools/process/other_load.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace tessera::tool {
namespace {

void compute_for(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
  }
}

TEST(OtherLoadTest, is_unknown_at_once) {
  EXPECT_FALSE(OtherLoad().share());
}

TEST(OtherLoadTest, sees_another_process_and_not_this_one) {
  if (!processor_time()) GTEST_SKIP() << "this system does not tell of its processors' time";
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) compute_for(1);
  }
  ASSERT_GT(child, 0);
  const OtherLoad with_child;
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  const auto share = with_child.share();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const double one_processor = 1.0 / std::max(1U, std::thread::hardware_concurrency());
  ASSERT_TRUE(share);
  // The child gets a processor, or others do in its place.
  EXPECT_GT(*share, 0.7 * one_processor);
  EXPECT_LE(*share, 1.0);

  const auto before = processor_time();
  compute_for(0.3);
  const auto after = processor_time();
  ASSERT_TRUE(before && after);
  EXPECT_GT(after->own_s, before->own_s);
}

}  // namespace
}  // namespace tessera::tool
