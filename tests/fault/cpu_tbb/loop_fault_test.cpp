// Loops of the CPU's executors whose bodies wait for other loops, and executors that the system does not give threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "cpu_tbb_queue.h"
#include "plugin_hook.h"
#include "support/allocation_faults.h"
#include "within_time.h"

namespace tessera::fault {
namespace {

using namespace std::chrono_literals;
using cpu_tbb::CpuTbbQueue;
using cpu_tbb::Executor;
using cpu_tbb::Refusable;

constexpr std::chrono::seconds kLimit{60};

std::shared_ptr<cpu_tbb::ScratchPool> scratch() {
  return std::make_shared<cpu_tbb::ScratchPool>(std::make_shared<cpu_tbb::MemoryBudget>(1 << 28));
}

class LoopFaultTest : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static std::shared_ptr<Executor> executor(int threads = 2) {
    return GetParam() ? cpu_tbb::make_static_executor(scratch(), threads)
                      : cpu_tbb::make_tbb_executor(scratch(), threads);
  }
};
INSTANTIATE_TEST_SUITE_P(cpu, LoopFaultTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "static_partition" : "one_tbb"; });

/// A loop that notes each of its chunks.
class Chunks {
 public:
  explicit Chunks(std::int64_t count) : seen_(static_cast<std::size_t>(count)) {}
  void run(Executor& executor) {
    executor.parallel_for(static_cast<std::int64_t>(seen_.size()), [this](std::int64_t first, std::int64_t last) {
      for (std::int64_t chunk = first; chunk < last; ++chunk) ++seen_[static_cast<std::size_t>(chunk)];
    });
  }
  /// How often every chunk was called; -1 if they differ.
  [[nodiscard]] int rounds() const {
    for (const auto& seen : seen_)
      if (seen != seen_.front()) return -1;
    return seen_.front();
  }

 private:
  std::vector<std::atomic<int>> seen_;
};

TEST_P(LoopFaultTest, a_loop_inside_of_a_loop) {
  within(kLimit, "a loop inside of a loop", [] {
    const auto team = executor();
    std::array<Chunks, 6> inner{Chunks(10), Chunks(10), Chunks(10), Chunks(10), Chunks(10), Chunks(10)};
    team->parallel_for(6, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) inner[static_cast<std::size_t>(i)].run(*team);
    });
    for (const Chunks& chunks : inner) EXPECT_EQ(chunks.rounds(), 1);
  });
}

TEST_P(LoopFaultTest, every_body_waits_for_another_queue) {
  within(kLimit, "a body that waits for another queue", [] {
    const auto team = executor();
    CpuTbbQueue outer(team);
    CpuTbbQueue other(team);
    Chunks chunks(40);
    outer.submit([&](Executor& executor) {
      executor.parallel_for(16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          static std::mutex one_at_a_time;  // one thread at a time, as the front half uses a queue
          const std::lock_guard lock(one_at_a_time);
          other.submit([&](Executor& inner) { chunks.run(inner); });
          if (i % 2 == 0) {
            other.finish();
          } else {
            other.record()->wait();
          }
        }
      });
    });
    outer.finish();
    EXPECT_EQ(chunks.rounds(), 16);
  });
}

TEST_P(LoopFaultTest, bodies_that_wait_for_each_others_queues) {
  within(kLimit, "a chain of queues that wait", [] {
    const auto team = executor();
    constexpr int kDepth = 5;
    std::vector<std::unique_ptr<CpuTbbQueue>> queues;
    for (int i = 0; i < kDepth; ++i) queues.push_back(std::make_unique<CpuTbbQueue>(team));
    Chunks chunks(40);
    const std::function<void(std::size_t)> wait_at = [&](std::size_t depth) {
      queues[depth]->submit([&, depth](Executor& executor) {
        executor.parallel_for(8, [&, depth](std::int64_t first, std::int64_t) {
          if (first == 0 && depth + 1 < kDepth) wait_at(depth + 1);
        });
        chunks.run(executor);
      });
      queues[depth]->finish();
    };
    wait_at(0);
    EXPECT_EQ(chunks.rounds(), kDepth);
  });
}

TEST_P(LoopFaultTest, a_body_that_waits_unseen) {
  within(kLimit, "a body that waits for a thread of its own", [] {
    const auto team = executor();
    CpuTbbQueue outer(team);
    CpuTbbQueue other(team);
    Chunks chunks(40);
    outer.submit([&](Executor& executor) {
      executor.parallel_for(2, [&](std::int64_t first, std::int64_t) {
        if (first != 0) return;
        std::thread([&] {
          other.submit([&](Executor& inner) { chunks.run(inner); });
          other.finish();
        }).join();
      });
    });
    outer.finish();
    EXPECT_EQ(chunks.rounds(), 1);
  });
}

TEST_P(LoopFaultTest, two_queues_share_the_threads) {
  within(kLimit, "two queues", [] {
    const auto team = executor();
    CpuTbbQueue one(team);
    CpuTbbQueue other(team);
    Chunks of_one(64);
    Chunks of_other(64);
    for (int i = 0; i < 500; ++i) {
      one.submit([&](Executor& executor) { of_one.run(executor); });
      other.submit([&](Executor& executor) { of_other.run(executor); });
    }
    one.finish();
    other.finish();
    EXPECT_EQ(of_one.rounds(), 500);
    EXPECT_EQ(of_other.rounds(), 500);
  });
}

TEST_P(LoopFaultTest, a_throwing_body_lets_the_next_loop_run) {
  within(kLimit, "the loop after one that threw", [] {
    const auto team = executor();
    for (int round = 0; round < 20; ++round) {
      EXPECT_THROW(team->parallel_for(8, [](std::int64_t, std::int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
      Chunks chunks(20);
      chunks.run(*team);
      EXPECT_EQ(chunks.rounds(), 1);
    }
  });
}

std::ptrdiff_t threads_of_process() {
  // A sanitizer starts a thread of its own together with the program's first thread: it must be counted before.
  static const bool has_started_one = (std::thread([] {}).join(), true);
  static_cast<void>(has_started_one);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// Waits, because the system lists a thread for a moment after it was joined, and oneTBB starts and ends threads
/// freely.
bool no_more_threads_than(std::ptrdiff_t count) {
  for (int round = 0; round < 200; ++round) {
    if (threads_of_process() <= count) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

std::atomic<int> threads_until_refusal{0};
bool refuses_threads(Refusable what) noexcept {
  return what == Refusable::thread && threads_until_refusal.fetch_sub(1) <= 1;
}

TEST(ThreadFaultTest, threads_that_the_system_does_not_give) {
  constexpr int kThreads = 5;
  const auto expect_unavailable = [](auto&& action, const char* part) {
    try {
      action();
      FAIL() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.what();
      EXPECT_NE(error.sentence().find(part), std::string::npos) << error.what();
    }
  };
  const std::ptrdiff_t before = threads_of_process();
  for (int given = 0; given < kThreads - 1; ++given) {
    threads_until_refusal = given + 1;
    tessera_fault_set_cpu_tbb_hook(refuses_threads);
    expect_unavailable([] { static_cast<void>(cpu_tbb::make_static_executor(scratch(), kThreads)); },
                       std::to_string(given + 1).c_str());
    tessera_fault_set_cpu_tbb_hook(nullptr);
    EXPECT_TRUE(no_more_threads_than(before)) << "threads that were given are given back";
  }
  const auto team = cpu_tbb::make_static_executor(scratch(), kThreads);
  threads_until_refusal = 1;
  tessera_fault_set_cpu_tbb_hook(refuses_threads);
  expect_unavailable([&] { const CpuTbbQueue queue(team); }, "queue");
  tessera_fault_set_cpu_tbb_hook(nullptr);
  CpuTbbQueue queue(team);
  Chunks chunks(9);
  queue.submit([&](Executor& executor) { chunks.run(executor); });
  queue.finish();
  EXPECT_EQ(chunks.rounds(), 1);
}

TEST(ThreadFaultTest, new_threads_that_the_system_does_not_give_are_the_callers_part) {
  constexpr int kThreads = 4;
  const auto pool = cpu_tbb::make_static_executor(scratch(), kThreads);
  const std::unique_ptr<Executor> team = pool->with_new_threads();
  EXPECT_EQ(team->threads(), kThreads);
  const std::ptrdiff_t before = threads_of_process();
  for (int given = 0; given < kThreads; ++given) {
    threads_until_refusal = given + 1;
    tessera_fault_set_cpu_tbb_hook(refuses_threads);
    for (const std::int64_t count : {1, 3, 4, 9}) {
      Chunks chunks(count);
      chunks.run(*team);
      EXPECT_EQ(chunks.rounds(), 1) << count << " chunks, " << given << " threads given";
    }
    tessera_fault_set_cpu_tbb_hook(nullptr);
  }
  EXPECT_TRUE(no_more_threads_than(before));
}

TEST(ThreadFaultTest, exceptions_on_new_threads_reach_the_caller) {
  const std::unique_ptr<Executor> team = cpu_tbb::make_static_executor(scratch(), 4)->with_new_threads();
  for (const std::int64_t bad : {0, 3, 7}) {
    const auto body = [&](std::int64_t first, std::int64_t last) {
      if (first <= bad && bad < last) throw std::out_of_range("chunk");
    };
    EXPECT_THROW(team->parallel_for(8, body), std::out_of_range) << "chunk " << bad;
  }
}

TEST(ThreadFaultTest, memory_that_runs_out_while_a_pool_starts) {
  const std::ptrdiff_t before = threads_of_process();
  std::uint64_t k = 0;
  for (bool failed = true; failed;) {
    ++k;
    const auto pool = scratch();
    failed = false;
    arm_allocations(k, Whose::this_thread);
    try {
      const auto team = cpu_tbb::make_static_executor(pool, 4);
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const Error& error) {
      failed = true;
    }
    disarm_allocations();
    ASSERT_TRUE(no_more_threads_than(before)) << k;
  }
  EXPECT_GT(k, 4U);
}

}  // namespace
}  // namespace tessera::fault
