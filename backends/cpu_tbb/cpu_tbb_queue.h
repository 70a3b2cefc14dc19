// The queue: one worker thread that takes commands in order, and the copies and fills that need no kernel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "backend/backend.h"
#include "cpu_tbb_commands.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_event.h"
#include "cpu_tbb_executor.h"
#include "cpu_tbb_spin.h"

namespace tessera::cpu_tbb {

class CpuTbbQueue final : public backend::Queue {
 public:
  /// Error unavailable if the system gives no thread.
  explicit CpuTbbQueue(std::shared_ptr<Executor> executor);
  ~CpuTbbQueue() override;

  /// Queues `work`, which is called with the executor, on the worker thread, and spreads itself over the executor's
  /// threads, under the current command number. What it throws poisons the queue. Error out_of_memory: nothing is
  /// queued.
  template <class Work>
  void submit(Work work) {
    put(std::move(work), false);
  }

  void upload(const backend::Slice& destination, const void* host) override;
  void download(void* host, const backend::Slice& source) override;
  void copy(const backend::Slice& destination, const backend::Slice& source) override;
  void fill(const backend::Slice& destination, std::span<const std::byte> pattern) override;
  [[nodiscard]] std::unique_ptr<backend::Event> record() override;
  void wait(backend::Event& event) override;
  void finish() override;
  [[nodiscard]] bool drain() noexcept override;
  [[nodiscard]] backend::Suspects suspects() const override;

 private:
  template <class Work>
  void put(Work&& work, bool even_if_poisoned) {
    or_no_memory([&] {
      const std::unique_lock lock = lock_soon(putting_);
      commands_.put(command(), even_if_poisoned, std::move(work));
    });
    wake_worker();
  }

  void wake_worker() noexcept;
  /// Blocks until the worker has executed, and let go of, everything pushed so far.
  void wait_for_all() noexcept;
  /// The worker's life: runs what is there, spins a little, sleeps.
  void serve() noexcept;
  /// Returns once there is a command, or false once the queue closes and there is none.
  [[nodiscard]] bool wait_for_command() noexcept;
  void execute(Command& command) noexcept;
  void note_executed() noexcept;

  static constexpr std::uint64_t kNothingAwaited = std::numeric_limits<std::uint64_t>::max();

  const std::shared_ptr<Executor> executor_;
  std::mutex putting_;  // held by whoever puts in a command, never by the worker
  Commands commands_;
  mutable std::mutex mutex_;         // of the rest
  std::condition_variable changed_;  // there is something to do
  std::condition_variable executed_changed_;
  alignas(64) std::atomic<std::uint64_t> executed_{0};  // written by the worker alone
  /// The least count of executed commands that a thread sleeps for. The worker wakes nobody before: a wake-up takes it
  /// 10 microseconds, and the thread that is woken takes the processor of one that computes.
  alignas(64) std::atomic<std::uint64_t> awaited_{kNothingAwaited};
  std::atomic<bool> asleep_{false};  // the worker
  std::atomic<bool> closing_{false};
  std::optional<Error> failure_;  // the first one; written by the worker alone
  std::uint64_t failed_command_ = 0;
  std::thread worker_;
};

}  // namespace tessera::cpu_tbb
