// Scratch memory that loop bodies work in.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cpu_tbb_memory_budget.h"

namespace tessera::cpu_tbb {

/// Memory lent to loop bodies and kept for the next loop: the page faults of 300 kB fresh from the system take longer
/// than the arithmetic of a small product. A new block is made where none is free, so the pool holds about as many
/// blocks as were ever lent at once. Blocks count in the budget of the device's memory, lent or not.
///
/// A thread puts blocks back on a shelf of its own and finds them there the next time, in its own core's cache, without
/// meeting another thread. With one list and one lock for all, 16 threads waited for each other longer than they
/// convolved an image of 512 x 512.
class ScratchPool {
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
    Block& operator=(Block&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(size_bytes_, other.size_bytes_);
      return *this;
    }
    ~Block();
    /// Empty if the system gives none.
    [[nodiscard]] static Block make(std::size_t size_bytes) noexcept;

    [[nodiscard]] std::byte* data() const noexcept { return memory_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

   private:
    std::byte* memory_ = nullptr;
    std::size_t size_bytes_ = 0;
  };

 public:
  static constexpr std::size_t kAlignment = 64;

  explicit ScratchPool(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  /// To be destroyed after all loans have ended.
  ~ScratchPool() { static_cast<void>(trim()); }

  /// What a loan calls when memory has run out, before it tries again: backend::Device::set_reclaim(). Set before the
  /// first loan.
  void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }
  /// What it holds, lent or not.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }
  /// Frees what is not lent, and returns how much that was.
  std::uint64_t trim() noexcept;

  /// A block on loan, uninitialised, aligned to kAlignment; goes back to the pool when this object dies. Null for 0.
  class Loan {
   public:
    /// Error out_of_memory, after everything that lay idle was given back in vain.
    Loan(ScratchPool& pool, std::size_t size_bytes);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    [[nodiscard]] std::byte* data() const noexcept { return block_.data(); }

   private:
    ScratchPool& pool_;
    Block block_;
  };

 private:
  /// On cache lines of its own.
  class alignas(kAlignment) Shelf {
   public:
    /// The smallest block of at least so many bytes, an empty one if there is none.
    [[nodiscard]] Block take_fitting(std::size_t size_bytes) noexcept;
    /// Any block, an empty one if there is none.
    [[nodiscard]] Block take_any() noexcept;
    /// False, and the block is left where it is, if the shelf cannot grow.
    [[nodiscard]] bool put(Block& block) noexcept;

   private:
    /// To be called with the lock held.
    [[nodiscard]] Block take(std::size_t index) noexcept;

    std::atomic<std::size_t> largest_bytes_{0};  // its largest block: threads look at this before they take the lock
    std::mutex mutex_;
    std::vector<Block> blocks_;
  };

  /// More than most machines have threads, so that few share one.
  static constexpr std::size_t kShelves = 64;

  [[nodiscard]] Block take(std::size_t size_bytes) noexcept;
  /// A new block, counted in the budget; an empty one if the budget or the system does not have the memory.
  [[nodiscard]] Block make(std::size_t size_bytes) noexcept;
  void free(Block block) noexcept;
  /// The calling thread's shelf for distance 0, then the others in turn.
  [[nodiscard]] Shelf& shelf(std::size_t distance) noexcept;

  const std::shared_ptr<MemoryBudget> budget_;
  std::function<bool()> reclaim_;
  std::atomic<std::uint64_t> held_bytes_{0};
  std::array<Shelf, kShelves> shelves_;
};

}  // namespace tessera::cpu_tbb
