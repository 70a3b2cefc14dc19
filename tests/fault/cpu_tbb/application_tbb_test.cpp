// An application that uses oneTBB itself: its tasks run operators, its limits on threads hold, and nothing waits for
// ever.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tessera/tessera.h>

#include "support/time_limit.h"

namespace tessera::fault {
namespace {

constexpr std::int64_t kSide = 70;
constexpr double kSecondsAtMost = 60;

class ApplicationTbbTest : public testing::TestWithParam<const char*> {
 protected:
  /// A product on a queue of the caller's own; true if it is right.
  [[nodiscard]] bool multiplies(float value) const {
    constexpr auto kCount = static_cast<std::size_t>(kSide * kSide);
    Queue queue(device_);
    const auto a = device_.allocate<float>(kCount);
    const auto c = device_.allocate<float>(kCount);
    queue.fill(a, value);
    queue.run(kernel_, {.a = a, .b = a, .c = c});
    return queue.download(c).get() == std::vector<float>(kCount, value * value * static_cast<float>(kSide));
  }
  /// How many of the application's tasks, all at once, got something wrong.
  [[nodiscard]] int wrong_of_tasks() const {
    std::atomic<int> wrong{0};
    tbb::parallel_for(0, 40, [&](int task) {
      if (!multiplies(static_cast<float>(task % 7 + 1))) ++wrong;
    });
    return wrong;
  }

  testing_support::TimeLimit limit_{"an operator beside oneTBB waits for ever", kSecondsAtMost};
  Device device_ = tessera::open(GetParam());
  OperatorKernel<Gemm> kernel_ = device_.kernel(Gemm{.m = kSide, .n = kSide, .k = kSide});
};

TEST_P(ApplicationTbbTest, its_tasks_run_operators) {
  EXPECT_EQ(wrong_of_tasks(), 0);
}

TEST_P(ApplicationTbbTest, its_limit_of_one_thread_holds_nothing_up) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(multiplies(2));
  EXPECT_EQ(wrong_of_tasks(), 0);
}

TEST_P(ApplicationTbbTest, an_arena_of_its_own_runs_operators) {
  tbb::task_arena arena(2);
  int wrong = -1;
  arena.execute([&] { wrong = wrong_of_tasks(); });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ApplicationTbbTest, its_tasks_go_on_while_it_waits_for_a_queue) {
  tbb::task_group others;
  std::atomic<int> done{0};
  for (int task = 0; task < 20; ++task) {
    others.run([&] {
      if (multiplies(3)) ++done;
    });
  }
  EXPECT_TRUE(multiplies(5));
  others.wait();
  EXPECT_EQ(done, 20);
}

INSTANTIATE_TEST_SUITE_P(cpu, ApplicationTbbTest, testing::Values("cpu:0", "cpu:1"),
                         [](const auto& entry) { return std::string(entry.param).replace(3, 1, "_"); });

}  // namespace
}  // namespace tessera::fault
