// A queue with its books: which commands were given, how far the device is known to be, what must be kept alive until
// then, and the first error, after which nothing is queued any more.
#pragma once

#include <tessera/error.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "boundary.h"
#include "command.h"
#include "command_watch.h"
#include "device_core.h"
#include "kernel_core.h"
#include "queue_progress.h"
#include "queue_track.h"
#include "watch.h"

namespace tessera::detail {

/// What a command keeps alive until the queue is past it, beside the memory of its views. Any of it may be null.
struct Keep {
  std::shared_ptr<void> object{};  ///< host memory, events
  std::shared_ptr<KernelCore> kernel{};
  std::shared_ptr<Block> workspace{};
};

class QueueCore : public std::enable_shared_from_this<QueueCore> {
 public:
  /// Makes a queue that its device knows of.
  [[nodiscard]] static std::shared_ptr<QueueCore> make(std::shared_ptr<DeviceCore> device, std::string label);
  /// For make().
  QueueCore(std::shared_ptr<DeviceCore> device, std::string label);
  ~QueueCore();
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  /// "queue 'name' of cpu:0"
  [[nodiscard]] std::string description() const;

  /// Queues one command that uses the views' memory: `enqueue(backend::Queue&)`. Views of nothing are passed over. All
  /// that the command needs is noted before the device learns of it, so that whatever fails takes nothing away.
  template <class Views, class Enqueue>
  void submit(const Command& command, const Views& views, Keep keep, Enqueue&& enqueue) {
    if (is_watched(kWatchCommands)) [[unlikely]] {
      submit_watched(command, views, keep, [&](backend::Queue& queue) { enqueue(queue); });
    } else {
      submit_before(NoWitness(), command, views, keep, enqueue);
    }
  }
  /// Memory for the next command to work in, at least so large; null for 0 bytes. The queue remembers one block for all
  /// its commands, which run one after another. Called by the thread that queues, before submit().
  [[nodiscard]] std::shared_ptr<Block> workspace(std::size_t size_bytes);
  void let_go_of_workspace() noexcept;

  /// A point after everything queued so far, and its number.
  [[nodiscard]] std::pair<std::unique_ptr<backend::Event>, std::uint64_t> record();
  /// What is queued from here on runs after the event, which `owner` keeps alive.
  void wait(backend::Event& event, std::shared_ptr<void> owner);
  /// Queue::watch_launches() and what it noted.
  void watch_launches();
  [[nodiscard]] std::vector<LaunchFacts> watched_launches();
  /// Blocks until everything queued has ended; throws the queue's first error.
  void finish();
  /// For the last owner that can queue something: blocks as finish() does and lets no error out. A queue whose driver
  /// does not tell that its work has ended is kept by its device.
  void close() noexcept;
  /// After close(): asks the driver again.
  [[nodiscard]] bool has_ended() noexcept;

  /// Runs `wait`, which waits for an event of this queue, and poisons the queue if that throws.
  template <class Wait>
  auto guarded(Wait&& wait) {
    device_->refuse_elsewhere();
    try {
      return wait();
    } catch (...) {
      fail(current_error());
    }
  }
  /// The queue is known to be past command `sequence`.
  void note_past(std::uint64_t sequence) noexcept;

  [[nodiscard]] const std::shared_ptr<QueueProgress>& progress() const noexcept { return progress_; }
  /// Is the queue past the command? Asks the driver, and never blocks for long. No answer is a no.
  [[nodiscard]] bool poll_past(std::uint64_t sequence) noexcept;
  /// Waits for it. False if the driver does not tell.
  [[nodiscard]] bool wait_until_past(std::uint64_t sequence) noexcept;
  /// Is it past everything? As poll_past().
  [[nodiscard]] bool is_idle() noexcept;

  void throw_if_poisoned() const;

 private:
  struct Kept {
    std::shared_ptr<void> object;
    std::uint64_t sequence = 0;
  };
  /// Lists, because their entries move from one to another without taking memory.
  using KeptList = std::list<Kept>;

  /// Who sees a command being queued.
  struct NoWitness {
    void begin(const Command& /*command*/, const KernelCore* /*kernel*/) const noexcept {}
    void queued(bool /*has_taken*/) const noexcept {}
    void tell() const noexcept {}
  };
  struct Witness;
  /// What submit() does where somebody watches; one for all commands, so that none of it is in their way.
  void submit_watched(const Command& command, std::span<const UntypedView* const> views, Keep& keep,
                      const std::function<void(backend::Queue&)>& enqueue);
  template <class Seeing, class Views, class Enqueue>
  void submit_before(Seeing witness, const Command& command, const Views& views, Keep& keep, const Enqueue& enqueue) {
    std::optional<Error> failure;
    KeptList released;  // goes without the lock: what is let go of may use the library
    {
      const std::lock_guard lock(mutex_);
      const std::uint64_t sequence = begin(command);
      witness.begin(command, keep.kernel.get());
      for (const UntypedView* view : views) {
        if (*view) view->block()->note_use(shared_from_this(), sequence);
      }
      if (keep.workspace != nullptr) keep.workspace->note_use(shared_from_this(), sequence);
      note_kept(std::move(keep.object), std::move(keep.kernel), sequence, released);
      try {
        enqueue(*queue_);
      } catch (...) {
        failure = current_error();
      }
      witness.queued(!failure);
    }
    witness.tell();
    if (failure) refuse(*failure);
  }

  [[nodiscard]] std::uint64_t begin(const Command& command);
  /// Where there is no memory to watch with, nothing is watched.
  void begin_watch(std::optional<CommandWatch>& watch, const Command& command, const KernelCore* kernel) noexcept;
  /// After finish(): the trace has all that was queued.
  void flush_track() noexcept;
  void note_kept(std::shared_ptr<void> object, std::shared_ptr<KernelCore> kernel, std::uint64_t sequence,
                 KeptList& released);
  void note_kernel(std::shared_ptr<KernelCore> kernel, std::uint64_t sequence);
  /// The driver did not take the command. Never returns.
  [[noreturn]] void refuse(const Error& error);
  /// A wait told of a failure. Never returns.
  [[noreturn]] void fail(const Error& error);
  /// Blocks until nothing runs any more. False if the driver does not tell.
  bool settle() noexcept;
  /// The queue's error, and whether what it uses may go.
  [[noreturn]] void throw_poison(bool has_settled) const;
  /// The error with one line more, made of `parts`; without it if the host has no memory for words.
  template <class... Parts>
  [[nodiscard]] static Error told(const Error& error, const Parts&... parts) noexcept {
    try {
      return error.while_doing(backend::sentence(parts...));
    } catch (const std::exception&) {
      return error;
    }
  }
  [[nodiscard]] std::string describe(std::uint64_t sequence) const;
  [[nodiscard]] std::string describe(const backend::Suspects& suspects) const;
  [[nodiscard]] bool poll_fence(std::uint64_t sequence) noexcept;
  /// Moves out what need not be kept any longer, so that the caller lets go of it without the lock.
  void take_released(KeptList& released) noexcept;

  const std::shared_ptr<DeviceCore> device_;
  const std::string label_;
  const std::shared_ptr<QueueProgress> progress_ = std::make_shared<QueueProgress>();
  mutable std::mutex mutex_;
  std::uint64_t submitted_ = 0;
  std::vector<Command> remembered_;  ///< the last commands, by sequence modulo its size
  KeptList kept_;
  std::size_t keep_limit_;
  KeptList kernels_;  ///< the last few, which run again and again
  std::optional<Error> poison_;
  std::shared_ptr<Block> workspace_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Event> fence_;
  std::uint64_t fence_sequence_ = 0;
  std::unique_ptr<QueueTrack> track_;                       ///< its events go before the queue does
  std::list<std::shared_ptr<QueueCore>> parking_place_{1};  ///< made early: parking must not need memory
};

}  // namespace tessera::detail
