// How far a queue is known to be: shared with the memory that waits for it, which may outlive the queue.
#pragma once

#include <atomic>
#include <cstdint>

namespace tessera::detail {

/// Only ever moves forward. All functions may be called from any thread.
class QueueProgress {
 public:
  /// Behind the last command of every queue.
  static constexpr std::uint64_t kEnd = UINT64_MAX;

  [[nodiscard]] bool is_past(std::uint64_t sequence) const noexcept {
    return past_.load(std::memory_order_acquire) >= sequence;
  }
  void reached(std::uint64_t sequence) noexcept {
    std::uint64_t known = past_.load(std::memory_order_relaxed);
    while (known < sequence && !past_.compare_exchange_weak(known, sequence, std::memory_order_release)) {
    }
  }

 private:
  std::atomic<std::uint64_t> past_{0};
};

}  // namespace tessera::detail
