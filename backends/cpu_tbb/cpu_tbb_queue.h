// The queue: one worker thread that takes commands in order, and the copies and fills that need no kernel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "cpu_tbb_event.h"
#include "cpu_tbb_executor.h"

namespace tessera::cpu_tbb {

class CpuTbbQueue final : public backend::Queue {
 public:
  /// What a command does, on the worker thread, which spreads it over the executor's threads. What it throws poisons
  /// the queue.
  using Work = std::function<void(Executor&)>;

  explicit CpuTbbQueue(std::shared_ptr<Executor> executor);
  ~CpuTbbQueue() override;

  /// Queues work under the current command number.
  void submit(Work work) { push({command(), false, std::move(work)}); }

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
  struct Command {
    std::uint64_t number = 0;
    bool even_if_poisoned = false;  ///< events are passed, and told of the failure
    Work work;
  };

  void push(Command command);
  [[nodiscard]] std::shared_ptr<EventState> record_state();
  /// The worker's life: takes all that is pending, runs it, spins a little, sleeps.
  void serve() noexcept;
  [[nodiscard]] bool take_pending(std::vector<Command>& batch);
  void execute(Command& command) noexcept;

  const std::shared_ptr<Executor> executor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Command> pending_;
  bool asleep_ = false;
  bool closing_ = false;
  std::atomic<bool> has_pending_{false};  // says without the lock that a look is worth it
  std::optional<Error> failure_;          // the first one; written by the worker alone
  std::uint64_t failed_command_ = 0;
  std::thread worker_;
};

}  // namespace tessera::cpu_tbb
