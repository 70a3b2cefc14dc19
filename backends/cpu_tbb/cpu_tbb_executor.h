// How a loop is spread over threads: one interface with two implementations, oneTBB and a static partition over
// threads of its own, because studies compare them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cpu_tbb_scratch.h"

namespace tessera::cpu_tbb {

/// The threads that a loop is cut into chunks for.
struct Team {
  int threads = 1;
  /// At a loop's end the other threads wait for the slowest one, which began late or whose core is disturbed. This is
  /// how long they wait, in times of one chunk: with smaller chunks the wait is shorter.
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

  /// Calls the Body `body` for ranges that together are [0, chunks), each chunk once, on several threads, and returns
  /// when all are done. How chunks fall into ranges depends on the threads, so what one chunk computes must depend on
  /// its number alone: then results are the same for any number of threads. Rethrows an exception of a body; chunks
  /// that have not begun by then may be left out. A body may wait for a queue of the same device that is not its own:
  /// that queue's loops then run without the threads that wait.
  template <class F>
  void parallel_for(std::int64_t chunks, F&& body) {
    if (chunks <= 0) return;
    if (chunks == 1 || threads() == 1) return body(std::int64_t{0}, chunks);
    run(chunks, std::ref(body));  // by reference, so that nothing is allocated
  }

  [[nodiscard]] virtual int threads() const noexcept = 0;
  [[nodiscard]] Team team() const noexcept { return {threads(), waited_for()}; }
  /// An executor that runs every loop on the calling thread, with this executor's scratch memory. For loop bodies that
  /// run loops of their own: the other threads have bodies to run already.
  [[nodiscard]] std::unique_ptr<Executor> alone() const;
  /// An executor with as many threads, this executor's scratch memory, and a static partition, that creates its threads
  /// for each loop and joins them at its end. For studies: what that costs. A range whose thread the system does not
  /// give is computed by the caller.
  [[nodiscard]] std::unique_ptr<Executor> with_new_threads() const;
  [[nodiscard]] ScratchPool& scratch() noexcept { return *scratch_; }

 private:
  /// parallel_for with at least 2 chunks and 2 threads.
  virtual void run(std::int64_t chunks, const Body& body) = 0;
  /// For Team: 0 where every thread's part is fixed, because smaller chunks change nothing there.
  [[nodiscard]] virtual double waited_for() const noexcept { return 0; }

  std::shared_ptr<ScratchPool> scratch_;
};

/// Executor::with_new_threads() with that scratch memory.
[[nodiscard]] std::unique_ptr<Executor> make_executor_of_new_threads(std::shared_ptr<ScratchPool> scratch, int threads);

/// oneTBB with task arenas of its own, which splits ranges as far as balancing the load needs. The number of threads is
/// a limit for each loop. oneTBB has one pool for the whole process, with no more threads than processors: threads()
/// says how many it gives.
[[nodiscard]] std::shared_ptr<Executor> make_tbb_executor(std::shared_ptr<ScratchPool> scratch, int threads);

/// One contiguous range for each of `threads` POSIX threads (the caller is one of them), whatever the load. Error
/// unavailable if the system does not give that many threads.
[[nodiscard]] std::shared_ptr<Executor> make_static_executor(std::shared_ptr<ScratchPool> scratch, int threads);

}  // namespace tessera::cpu_tbb
