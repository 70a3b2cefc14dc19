// Memory of the CPU's devices: aligned host memory, counted in the machine's budget. Pinned memory is the same thing.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backend/backend.h"
#include "cpu_tbb_memory_budget.h"

namespace tessera::cpu_tbb {

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
