// A queue with its books: which commands were given, how far the device is known to be, what must be kept alive until
// then, and the first error, after which nothing is queued any more.
#pragma once

#include <tessera/error.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "device_core.h"
#include "kernel_core.h"

namespace tessera::detail {

/// What a command does, put into words only if it fails.
struct Command {
  const char* verb = "";                         ///< "running ", "uploading "
  std::shared_ptr<const std::string> subject{};  ///< a kernel's description; null: `size_bytes` bytes, if not 0
  std::size_t size_bytes = 0;
};

class QueueCore : public std::enable_shared_from_this<QueueCore> {
 public:
  QueueCore(std::shared_ptr<DeviceCore> device, std::string label);
  ~QueueCore() = default;  // the backend's queue waits for its work
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  /// "queue 'name' of cpu:0"
  [[nodiscard]] std::string description() const;

  /// Queues one command that uses the views' memory: `enqueue(backend::Queue&)`. Views of nothing are passed over.
  template <class Views, class Enqueue>
  void submit(const Command& command, const Views& views, Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t sequence = begin(command);
    for (const UntypedView* view : views) {
      if (*view) view->block()->note_use(shared_from_this(), sequence);
    }
    try {
      enqueue(*queue_);
    } catch (const Error& error) {
      refuse(error);
    }
  }
  /// Memory for the next command to work in, at least so large; null for 0 bytes. The queue keeps one block for all
  /// its commands, which run one after another. Called by the thread that queues, before submit().
  [[nodiscard]] backend::Slice workspace(std::size_t size_bytes);
  /// Keeps something alive until the queue is past everything given so far.
  void keep(std::shared_ptr<void> object);
  /// The same for a kernel: cheap when the same few kernels run again and again.
  void keep(const std::shared_ptr<KernelCore>& kernel);

  /// A point after everything queued so far, and its number.
  [[nodiscard]] std::pair<std::unique_ptr<backend::Event>, std::uint64_t> record();
  void wait(backend::Event& event);
  void finish();
  /// Waits like finish(), and lets no error out.
  void drain() noexcept;

  /// Runs `wait`, which waits for an event of this queue, and poisons the queue if that throws.
  template <class Wait>
  auto guarded(Wait&& wait) {
    try {
      return wait();
    } catch (const Error& error) {
      poison(error);
      throw_if_poisoned();
      throw;
    }
  }
  /// The queue is known to be past command `sequence`.
  void note_past(std::uint64_t sequence) noexcept;

  /// Is the queue past the command, as far as is known without asking the driver?
  [[nodiscard]] bool is_past(std::uint64_t sequence) const noexcept { return past_.load() >= sequence; }
  /// The same, asking the driver. Never blocks for long.
  [[nodiscard]] bool poll_past(std::uint64_t sequence) noexcept;
  /// Waits for it. Returns true.
  bool wait_until_past(std::uint64_t sequence) noexcept;

  void throw_if_poisoned() const;

 private:
  struct Kept {
    std::shared_ptr<void> object;
    std::uint64_t sequence = 0;
  };

  [[nodiscard]] std::uint64_t begin(const Command& command);
  [[noreturn]] void refuse(const Error& error);
  void poison(const Error& error) noexcept;
  [[nodiscard]] std::string describe(std::uint64_t sequence) const;
  [[nodiscard]] std::string describe(const backend::Suspects& suspects) const;
  [[nodiscard]] bool poll_fence(std::uint64_t sequence);
  /// Moves out what need not be kept any longer, so that the caller lets go of it without the lock.
  [[nodiscard]] std::vector<Kept> take_released();

  const std::shared_ptr<DeviceCore> device_;
  const std::string label_;
  mutable std::mutex mutex_;
  std::uint64_t submitted_ = 0;
  std::atomic<std::uint64_t> past_{0};
  std::vector<Command> remembered_;  ///< the last commands, by sequence modulo its size
  std::vector<Kept> kept_;
  std::size_t keep_limit_;
  std::vector<std::pair<std::shared_ptr<KernelCore>, std::uint64_t>> kernels_;
  std::optional<Error> poison_;
  std::shared_ptr<Block> workspace_;  ///< outlives queue_, whose destructor waits for the work
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Event> fence_;
  std::uint64_t fence_sequence_ = 0;
};

}  // namespace tessera::detail
