// Memory of the CPU's devices: aligned host memory, counted so that more than the machine has is refused and not given
// as addresses that kill the process when they are touched. Pinned memory is the same thing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/backend.h"

namespace tessera::cpu_tbb {

/// How much of the machine's memory live blocks may take together. One for all CPU devices of the process.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}

  /// Error out_of_memory if it would exceed the limit.
  void take(std::size_t size_bytes);
  void give_back(std::size_t size_bytes) noexcept { used_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::uint64_t left_bytes() const noexcept { return limit_bytes_ - used_bytes_.load(); }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

/// Owns aligned memory, uninitialised.
class HostBlock {
 public:
  /// Error out_of_memory.
  HostBlock(std::shared_ptr<MemoryBudget> budget, std::size_t size_bytes);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::size_t size_bytes_;
  std::byte* data_ = nullptr;
};

class CpuTbbBuffer final : public backend::Buffer {
 public:
  CpuTbbBuffer(std::shared_ptr<MemoryBudget> budget, std::size_t size_bytes) : block_(std::move(budget), size_bytes) {}
  [[nodiscard]] std::byte* data() const noexcept { return block_.data(); }

 private:
  HostBlock block_;
};

class CpuTbbPinnedMemory final : public backend::PinnedMemory {
 public:
  CpuTbbPinnedMemory(std::shared_ptr<MemoryBudget> budget, std::size_t size_bytes)
      : block_(std::move(budget), size_bytes) {}
  [[nodiscard]] void* data() const noexcept override { return block_.data(); }

 private:
  HostBlock block_;
};

/// Where a slice of one of our buffers begins.
[[nodiscard]] std::byte* address_of(const backend::Slice& slice) noexcept;

}  // namespace tessera::cpu_tbb
