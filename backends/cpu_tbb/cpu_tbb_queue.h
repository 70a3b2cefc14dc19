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
#include "cpu_tbb_error.h"
#include "cpu_tbb_event.h"
#include "cpu_tbb_executor.h"

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
    push(make_command<Work>(std::move(work), false));
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
  /// A command in a chain: only making one needs memory, what happens to it afterwards does not.
  struct Command {
    Command(std::uint64_t its_number, bool runs_even_if_poisoned) noexcept
        : number(its_number), even_if_poisoned(runs_even_if_poisoned) {}
    virtual ~Command() = default;
    virtual void run(Executor& executor) = 0;
    std::unique_ptr<Command> next;
    const std::uint64_t number;
    const bool even_if_poisoned;  ///< events are passed, and told of the failure
  };
  template <class Work>
  struct CommandOf final : Command {
    CommandOf(std::uint64_t its_number, bool runs_even_if_poisoned, Work&& its_work)
        : Command(its_number, runs_even_if_poisoned), work(std::move(its_work)) {}
    void run(Executor& executor) override { work(executor); }
    Work work;
  };
  template <class Work>
  [[nodiscard]] std::unique_ptr<Command> make_command(Work&& work, bool even_if_poisoned) const {
    return or_no_memory([&]() -> std::unique_ptr<Command> {
      return std::make_unique<CommandOf<Work>>(command(), even_if_poisoned, std::move(work));
    });
  }

  void push(std::unique_ptr<Command> command) noexcept;
  /// Blocks until the worker has executed, and let go of, everything pushed so far.
  void wait_for_all() noexcept;
  /// The worker's life: takes all that is pending, runs it, spins a little, sleeps.
  void serve() noexcept;
  /// A chain of commands; null when the queue closes.
  [[nodiscard]] std::unique_ptr<Command> take_pending();
  void execute(Command& command) noexcept;
  void note_executed() noexcept;

  static constexpr std::uint64_t kNothingAwaited = std::numeric_limits<std::uint64_t>::max();

  const std::shared_ptr<Executor> executor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // there is something to do
  std::condition_variable executed_changed_;
  std::unique_ptr<Command> pending_;  // the first of the chain
  Command* last_pending_ = nullptr;
  std::uint64_t pushed_ = 0;
  std::atomic<std::uint64_t> executed_{0};  // written by the worker alone
  /// The least count of executed commands that a thread sleeps for. The worker wakes nobody before: a wake-up takes it
  /// 10 microseconds, and the thread that is woken takes the processor of one that computes.
  std::atomic<std::uint64_t> awaited_{kNothingAwaited};
  bool asleep_ = false;
  bool closing_ = false;
  std::atomic<bool> has_pending_{false};  // says without the lock that a look is worth it
  std::optional<Error> failure_;          // the first one; written by the worker alone
  std::uint64_t failed_command_ = 0;
  std::thread worker_;
};

}  // namespace tessera::cpu_tbb
