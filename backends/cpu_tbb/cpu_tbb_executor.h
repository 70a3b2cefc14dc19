// How a loop is spread over threads: one interface with two implementations, oneTBB and a static partition over
// threads of its own, because studies compare them. Also the scratch memory that loop bodies work in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tessera::cpu_tbb {

/// Memory lent to loop bodies and kept for the next one: taken fresh from the system, 300 kB cost more page faults
/// than a small product costs arithmetic. Holds as many blocks as were ever lent at once. A thread gets the block that
/// it had last, if that is free: another's is in another core's cache.
class ScratchPool {
  struct Block {
    std::unique_ptr<std::byte[], void (*)(std::byte*)> memory{nullptr, nullptr};
    std::size_t size_bytes = 0;
    std::thread::id last_user;
  };

 public:
  static constexpr std::size_t kAlignment = 64;

  ScratchPool() = default;
  /// Asks `lender` where it has none, and gives everything back to it when it dies: for one thread that borrows very
  /// often, so that it does not meet the others at one lock.
  explicit ScratchPool(std::shared_ptr<ScratchPool> lender) noexcept : lender_(std::move(lender)) {}
  ~ScratchPool();
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  /// A block on loan, uninitialised, aligned to kAlignment; goes back to the pool when this object dies.
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
  /// Takes the block that suits best out of the list, an empty one if there is none.
  [[nodiscard]] Block take(std::size_t size_bytes, std::thread::id user) noexcept;
  void give_back(Block block) noexcept;

  const std::shared_ptr<ScratchPool> lender_;  // null: none
  std::mutex mutex_;
  std::vector<Block> free_;
};

/// Runs loops on at most threads() threads. Used by several queues at once.
class Executor {
 public:
  /// Works on the chunks [first, last).
  using Body = std::function<void(std::int64_t first, std::int64_t last)>;

  Executor() : scratch_(std::make_shared<ScratchPool>()) {}
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Calls `body` for ranges that together are [0, chunks), each chunk once, on several threads, and returns when all
  /// are done. How chunks fall into ranges depends on the threads, so what one chunk computes must depend on its number
  /// alone: then results are the same for any number of threads. Rethrows an exception of a body; chunks that have not
  /// begun by then may be left out.
  void parallel_for(std::int64_t chunks, const Body& body);

  [[nodiscard]] virtual int threads() const noexcept = 0;
  /// The calling thread alone, with scratch memory from this executor's: for bodies that are themselves one of many.
  [[nodiscard]] std::unique_ptr<Executor> alone() const;
  [[nodiscard]] ScratchPool& scratch() noexcept { return *scratch_; }

 protected:
  explicit Executor(std::shared_ptr<ScratchPool> scratch) : scratch_(std::move(scratch)) {}

 private:
  /// parallel_for with at least 2 chunks and 2 threads.
  virtual void run(std::int64_t chunks, const Body& body) = 0;

  std::shared_ptr<ScratchPool> scratch_;
};

/// oneTBB: a task arena of its own, ranges as small as the load's balance asks for. The number of threads is a cap:
/// oneTBB has one pool for the process with no more threads than processors, and threads() says what it gives.
[[nodiscard]] std::shared_ptr<Executor> make_tbb_executor(int threads);

/// One contiguous range for each of `threads` POSIX threads (the caller is one of them), whatever the load. Error
/// unavailable if the system does not give that many threads.
[[nodiscard]] std::shared_ptr<Executor> make_static_executor(int threads);

}  // namespace tessera::cpu_tbb
