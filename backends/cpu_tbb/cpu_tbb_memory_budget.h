// How much of the machine's memory the CPU's devices hold together, buffers and scratch alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::cpu_tbb {

/// One for all CPU devices of the process: more than the machine has is refused, and not given as addresses that kill
/// the process when they are touched.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// False, and nothing taken, if it would exceed the limit.
  [[nodiscard]] bool try_take(std::size_t size_bytes) noexcept {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (size_bytes > limit_bytes_ - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + size_bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t size_bytes) noexcept { used_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t left_bytes() const noexcept { return limit_bytes_ - used_bytes(); }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

}  // namespace tessera::cpu_tbb
