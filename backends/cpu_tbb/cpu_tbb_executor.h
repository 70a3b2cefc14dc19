// How a loop is spread over threads: one interface with two implementations, oneTBB and a static partition over
// threads of its own, because studies compare them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cpu_tbb_scratch.h"

namespace tessera::cpu_tbb {

/// Whom a loop is cut into chunks for.
struct Team {
  int threads = 1;
  /// How much of a chunk's time the others wait for the slowest thread in the end, which began later or whose core is
  /// disturbed, where smaller chunks would shorten that.
  double waited_for = 0;
};

/// Runs loops on at most threads() threads. Used by several queues at once.
class Executor {
 public:
  /// Works on the chunks [first, last).
  using Body = std::function<void(std::int64_t first, std::int64_t last)>;

  explicit Executor(std::shared_ptr<ScratchPool> scratch) : scratch_(std::move(scratch)) {}
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Calls `body` for ranges that together are [0, chunks), each chunk once, on several threads, and returns when all
  /// are done. How chunks fall into ranges depends on the threads, so what one chunk computes must depend on its number
  /// alone: then results are the same for any number of threads. Rethrows an exception of a body; chunks that have not
  /// begun by then may be left out. A body may wait for a queue of the same device that is not its own: that queue's
  /// loops then run without the threads that wait.
  void parallel_for(std::int64_t chunks, const Body& body);

  [[nodiscard]] virtual int threads() const noexcept = 0;
  [[nodiscard]] Team team() const noexcept { return {threads(), waited_for()}; }
  /// The calling thread alone, with scratch memory from this executor's: for bodies that are themselves one of many.
  [[nodiscard]] std::unique_ptr<Executor> alone() const;
  [[nodiscard]] ScratchPool& scratch() noexcept { return *scratch_; }

 private:
  /// parallel_for with at least 2 chunks and 2 threads.
  virtual void run(std::int64_t chunks, const Body& body) = 0;
  /// As in Team: nothing where every thread's part is fixed.
  [[nodiscard]] virtual double waited_for() const noexcept { return 0; }

  std::shared_ptr<ScratchPool> scratch_;
};

/// oneTBB: task arenas of its own, ranges as small as the load's balance asks for. The number of threads is a cap for
/// each loop: oneTBB has one pool for the process with no more threads than processors, and threads() says what it
/// gives.
[[nodiscard]] std::shared_ptr<Executor> make_tbb_executor(std::shared_ptr<ScratchPool> scratch, int threads);

/// One contiguous range for each of `threads` POSIX threads (the caller is one of them), whatever the load. Error
/// unavailable if the system does not give that many threads.
[[nodiscard]] std::shared_ptr<Executor> make_static_executor(std::shared_ptr<ScratchPool> scratch, int threads);

}  // namespace tessera::cpu_tbb
