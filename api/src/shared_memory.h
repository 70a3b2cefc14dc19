// One memory and every opened device that takes from it: a card reached through two backends, a device opened twice,
// the machine's own memory under all CPU devices. When one of them runs out, all give back what they cache.
#pragma once

#include <tessera/error.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "boundary.h"

namespace tessera::detail {

class DeviceCore;

/// Called from several threads at once.
class SharedMemory {
 public:
  /// The one of that name (backend::Device::memory_name()).
  [[nodiscard]] static std::shared_ptr<SharedMemory> of(const std::string& name);

  void join(std::weak_ptr<DeviceCore> device);

  /// Calls `take`, and as long as it throws out_of_memory and somebody has given memory back since, calls it again.
  template <class Take>
  auto with_reclaim(const Take& take) -> decltype(take()) {
    for (int attempt = 0;; ++attempt) {
      const std::uint64_t freed = times_freed();
      std::optional<Error> failure;
      try {
        return take();
      } catch (...) {
        failure = current_error();
      }
      if (failure->code() != ErrorCode::out_of_memory || attempt == kMostAttempts || !reclaim(freed)) throw *failure;
    }
  }

  /// Lets every device give back what it caches. True if any gave something, or if another thread did since
  /// times_freed() was `freed`. Waits for queues, unless the calling thread executes one's command.
  [[nodiscard]] bool reclaim(std::uint64_t freed);
  [[nodiscard]] std::uint64_t times_freed();

  /// "holders of the memory are 'weights' of 60000 bytes on cpu:0, ..."
  [[nodiscard]] std::string largest_holders();

  /// Stands around the freeing of memory, so that a thread that is short of it waits for the end.
  class Freeing {
   public:
    explicit Freeing(SharedMemory& memory) noexcept;
    ~Freeing();
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;
    void gave_back() noexcept { gave_ = true; }

   private:
    SharedMemory& memory_;
    bool gave_ = false;
  };

 private:
  /// A bound on trying again while other threads free and take.
  static constexpr int kMostAttempts = 16;

  [[nodiscard]] std::vector<std::shared_ptr<DeviceCore>> devices();

  std::mutex mutex_;
  std::condition_variable idle_;
  std::uint64_t freed_ = 0;  ///< how often somebody finished freeing
  int freeing_ = 0;
  std::vector<std::weak_ptr<DeviceCore>> devices_;
};

/// True on a thread that executes a queue's command now: it must not wait for a queue.
[[nodiscard]] bool is_inside_command() noexcept;

/// Marks the calling thread as one that executes a command.
class InsideCommand {
 public:
  InsideCommand() noexcept;
  ~InsideCommand();
  InsideCommand(const InsideCommand&) = delete;
  InsideCommand& operator=(const InsideCommand&) = delete;
};

}  // namespace tessera::detail
