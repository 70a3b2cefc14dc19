// The CPU's queue where memory runs out: on the side that queues, on the worker, and while somebody waits.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "cpu_tbb_buffer.h"
#include "cpu_tbb_kernel.h"
#include "cpu_tbb_queue.h"
#include "support/allocation_faults.h"
#include "within_time.h"

namespace tessera::fault {
namespace {

using namespace std::chrono_literals;
using cpu_tbb::CpuTbbQueue;

class QueueFaultTest : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] std::shared_ptr<cpu_tbb::Executor> executor() const {
    auto scratch = std::make_shared<cpu_tbb::ScratchPool>(budget_);
    return GetParam() ? cpu_tbb::make_static_executor(std::move(scratch), 2)
                      : cpu_tbb::make_tbb_executor(std::move(scratch), 2);
  }
  std::shared_ptr<cpu_tbb::MemoryBudget> budget_ = std::make_shared<cpu_tbb::MemoryBudget>(1 << 28);
};
INSTANTIATE_TEST_SUITE_P(cpu, QueueFaultTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "static_partition" : "one_tbb"; });

/// What `action` throws, with no allocation between its failure and here; nothing if it throws nothing.
template <class Action>
std::optional<ErrorCode> code_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST_P(QueueFaultTest, what_cannot_be_queued_leaves_the_queue_as_it_was) {
  constexpr std::size_t kSize = 64;
  const std::array<std::byte, kSize> zeros{};
  std::array<std::byte, kSize> found{};
  cpu_tbb::CpuTbbBuffer buffer(budget_, kSize);
  const backend::Slice all{&buffer, 0, kSize};
  CpuTbbQueue queue(executor());
  const std::byte one{1};
  std::uint64_t k = 0;
  for (bool failed = true; failed;) {
    queue.upload(all, zeros.data());
    ++k;
    std::optional<ErrorCode> code;
    bool filled = false;
    bool downloaded = false;
    arm_allocations(k, Whose::this_thread);
    code = code_of([&] {
      queue.fill(all, {&one, 1});
      filled = true;
      queue.download(found.data(), all);
      downloaded = true;
      const auto event = queue.record();
      queue.wait(*event);
      event->wait();
    });
    disarm_allocations();
    failed = code.has_value();
    EXPECT_EQ(code.value_or(ErrorCode::out_of_memory), ErrorCode::out_of_memory) << k;
    EXPECT_EQ(code_of([&] { queue.finish(); }), std::nullopt) << "a refusal poisons nothing";
    queue.download(found.data(), all);
    queue.finish();
    for (const std::byte value : found) ASSERT_EQ(value, filled ? one : std::byte{0}) << k;
    EXPECT_TRUE(filled || !downloaded);
  }
  EXPECT_GT(k, 2U) << "an event takes memory";
}

TEST_P(QueueFaultTest, a_queue_that_cannot_grow_refuses_a_command_and_keeps_the_others) {
  CpuTbbQueue queue(executor());
  std::atomic<bool> go{false};
  int executed = 0;
  const auto used = std::make_shared<int>(1);
  queue.submit([&](cpu_tbb::Executor&) {
    while (!go) std::this_thread::yield();
  });
  int queued = 0;
  arm_allocations(2, Whose::this_thread, true);  // the first is had
  const auto code = code_of([&] {
    for (; queued < 10000; ++queued) queue.submit([&executed, used](cpu_tbb::Executor&) { ++executed; });
  });
  disarm_allocations();
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_GT(queued, 0);
  queue.submit([&executed](cpu_tbb::Executor&) { executed += 10000; });
  go = true;
  queue.finish();
  EXPECT_EQ(executed, queued + 10000);
  EXPECT_EQ(used.use_count(), 1);
}

TEST_P(QueueFaultTest, commands_of_any_size_run_in_order) {
  CpuTbbQueue queue(executor());
  std::vector<int> seen;
  const auto used = std::make_shared<int>(1);
  for (int i = 0; i < 300; ++i) {
    if (i % 3 == 0) {
      queue.submit([&seen, i, used, large = std::array<std::byte, 1000>{}](cpu_tbb::Executor&) {
        seen.push_back(i + static_cast<int>(large[999]));
      });
    } else {
      queue.submit([&seen, i, used](cpu_tbb::Executor&) { seen.push_back(i); });
    }
    if (i % 100 == 50) queue.finish();
  }
  queue.finish();
  ASSERT_EQ(seen.size(), 300U);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(used.use_count(), 1);
}

TEST_P(QueueFaultTest, a_large_command_that_cannot_be_made_leaves_nothing_behind) {
  // Wherever its place is: at the beginning of new memory for commands, too. AddressSanitizer tells what is left there.
  for (int before = 0; before < 70; ++before) {
    for (const std::uint64_t k : {1, 2}) {
      int executed = 0;
      bool is_queued = false;
      CpuTbbQueue queue(executor());
      for (int i = 0; i < before; ++i) queue.submit([&executed](cpu_tbb::Executor&) { ++executed; });
      queue.finish();
      arm_allocations(k, Whose::this_thread, true);
      const auto code = code_of([&] {
        queue.submit([&executed, large = std::array<std::byte, 1000>{}](cpu_tbb::Executor&) {
          executed += 1000 + static_cast<int>(large[0]);
        });
        is_queued = true;
      });
      disarm_allocations();
      queue.finish();
      EXPECT_NE(code.has_value(), is_queued) << before;
      EXPECT_TRUE(k > 1 || code == ErrorCode::out_of_memory) << before;
      EXPECT_EQ(executed, before + (is_queued ? 1000 : 0));
    }
  }
}

TEST_P(QueueFaultTest, a_kernel_may_have_more_operands_than_lie_in_a_command) {
  for (const std::size_t count : {1U, 8U, 9U, 20U}) {
    cpu_tbb::CpuTbbBuffer buffer(budget_, 32);
    std::vector<backend::Slice> operands;
    for (std::size_t i = 0; i < count; ++i) operands.push_back({&buffer, i, 1});
    std::vector<std::byte*> found;
    cpu_tbb::CpuTbbKernel kernel([&found](cpu_tbb::Executor&, cpu_tbb::OperandAddresses addresses) {
      found.assign(addresses.begin(), addresses.end());
    });
    CpuTbbQueue queue(executor());
    kernel.launch(queue, operands, {});
    queue.finish();
    ASSERT_EQ(found.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], cpu_tbb::address_of(operands[i])) << i;
  }
}

TEST_P(QueueFaultTest, several_threads_may_queue) {
  within(60s, "queueing on several threads", [&] {
    CpuTbbQueue queue(executor());
    int executed = 0;  // commands run one after the other
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 2000; ++k) {
          queue.submit([&executed](cpu_tbb::Executor&) { ++executed; });
          if (k % 500 == 0) queue.finish();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    queue.finish();
    EXPECT_EQ(executed, 6000);
  });
}

TEST_P(QueueFaultTest, a_worker_without_memory_tells_it) {
  CpuTbbQueue queue(executor());
  queue.set_command(7);
  queue.submit([](cpu_tbb::Executor&) {
    arm_allocations(1, Whose::everybody, true);
    throw std::bad_alloc();
  });
  const auto code = code_of([&] { queue.finish(); });
  const backend::Suspects suspects = queue.suspects();
  disarm_allocations();
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_EQ(suspects.first, 7U);
  EXPECT_EQ(code_of([&] { queue.finish(); }), ErrorCode::out_of_memory) << "and goes on telling it";
}

TEST_P(QueueFaultTest, a_failure_is_translated_where_memory_runs_out_on_the_way) {
  for (std::uint64_t k = 1; k < 8; ++k) {
    CpuTbbQueue queue(executor());
    queue.submit([k](cpu_tbb::Executor&) {
      arm_allocations(k, Whose::this_thread);
      throw std::runtime_error("a sentence that is long enough to lie in memory of its own");
    });
    queue.submit([](cpu_tbb::Executor&) { FAIL() << "nothing runs on a poisoned queue"; });
    const auto event = queue.record();
    const auto code = code_of([&] { event->wait(); });
    disarm_allocations();
    ASSERT_TRUE(code == ErrorCode::out_of_memory || code == ErrorCode::internal) << k;
  }
}

TEST_P(QueueFaultTest, draining_and_finishing_need_no_memory) {
  CpuTbbQueue queue(executor());
  const auto used = std::make_shared<int>(1);
  std::atomic<int> done{0};
  const auto queue_work = [&] {
    queue.submit([&done, used](cpu_tbb::Executor&) {
      std::this_thread::sleep_for(30ms);
      ++done;
    });
  };
  queue_work();
  arm_allocations(1, Whose::everybody, true);
  const bool drained = queue.drain();
  const int done_by_then = done;
  disarm_allocations();
  EXPECT_TRUE(drained);
  EXPECT_EQ(done_by_then, 1);
  EXPECT_EQ(used.use_count(), 1) << "what the command kept alive is let go of";

  queue_work();
  arm_allocations(1, Whose::everybody, true);
  const auto code = code_of([&] { queue.finish(); });
  disarm_allocations();
  EXPECT_EQ(code, std::nullopt);
  EXPECT_EQ(done, 2);
}

TEST_P(QueueFaultTest, a_failed_queue_drains_past_what_was_running) {
  CpuTbbQueue queue(executor());
  queue.submit([](cpu_tbb::Executor&) { throw std::bad_alloc(); });
  const auto used = std::make_shared<int>(1);
  queue.submit([used](cpu_tbb::Executor&) {});
  EXPECT_TRUE(queue.drain());
  EXPECT_EQ(used.use_count(), 1);
  EXPECT_EQ(code_of([&] { queue.finish(); }), ErrorCode::out_of_memory);
  EXPECT_TRUE(queue.drain()) << "after finish() threw";
}

TEST_P(QueueFaultTest, many_threads_may_drain_while_one_queues) {
  within(60s, "draining on several threads", [&] {
    CpuTbbQueue queue(executor());
    std::atomic<bool> stop{false};
    std::atomic<int> executed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!stop) {
          const int before = executed;
          ASSERT_TRUE(queue.drain());
          ASSERT_GE(executed, before);
        }
      });
    }
    for (int i = 0; i < 3000; ++i) queue.submit([&](cpu_tbb::Executor&) { ++executed; });
    queue.finish();
    EXPECT_EQ(executed, 3000);
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
}

}  // namespace
}  // namespace tessera::fault
