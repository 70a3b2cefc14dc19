// Scratch memory that loop bodies work in.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::cpu_tbb {

/// Memory lent to loop bodies and kept for the next one: taken fresh from the system, 300 kB cost more page faults
/// than a small product costs arithmetic. A new block is made where none is free, so that it holds about as many as
/// were ever lent at once.
///
/// A thread puts blocks back on a shelf of its own and finds them there the next time, in its own core's cache, without
/// meeting another thread. With one list and one lock for all, 16 threads that borrowed three times each waited for
/// each other longer than they convolved an image of 512 x 512.
class ScratchPool {
  struct Block {
    std::unique_ptr<std::byte[], void (*)(std::byte*)> memory{nullptr, nullptr};
    std::size_t size_bytes = 0;
  };

 public:
  static constexpr std::size_t kAlignment = 64;

  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  /// A block on loan, uninitialised, aligned to kAlignment; goes back to the pool when this object dies. Null for 0.
  class Loan {
   public:
    Loan(ScratchPool& pool, std::size_t size_bytes);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    [[nodiscard]] std::byte* data() const noexcept { return block_.memory.get(); }

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
    void put(Block block) noexcept;

   private:
    /// To be called with the lock held.
    [[nodiscard]] Block take(std::size_t index) noexcept;

    std::atomic<std::size_t> largest_bytes_{0};  // of its blocks, for threads that only look
    std::mutex mutex_;
    std::vector<Block> blocks_;
  };

  /// More than most machines have threads, so that few share one.
  static constexpr std::size_t kShelves = 64;

  [[nodiscard]] Block take(std::size_t size_bytes) noexcept;
  /// The calling thread's, then the others.
  [[nodiscard]] Shelf& shelf(std::size_t distance) noexcept;

  std::array<Shelf, kShelves> shelves_;
};

}  // namespace tessera::cpu_tbb
