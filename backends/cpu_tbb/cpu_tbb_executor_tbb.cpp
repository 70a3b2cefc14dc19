// The oneTBB executor. Alone in its file because this is the only one that includes oneTBB's templates.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_executor.h"
#include "cpu_tbb_thread.h"

#if defined(TESSERA_THREAD_SANITIZER)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace tessera::cpu_tbb {

namespace {

/// Tells ThreadSanitizer what oneTBB guarantees out of its sight: a loop's beginning comes before every body, and every
/// body before the loop's end. Nothing without the sanitizer.
class Order {
 public:
#if defined(TESSERA_THREAD_SANITIZER)
  void publish() noexcept {
    __tsan_release(this);
  }
  void observe() noexcept {
    __tsan_acquire(this);
  }
#else
  void publish() noexcept {}
  void observe() noexcept {}
#endif
};

struct Loop {
  explicit Loop(Order& its_order) noexcept : order(its_order) { order.publish(); }
  ~Loop() { order.observe(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  Order& order;
};
struct Range {
  explicit Range(Order& its_order) noexcept : order(its_order) { order.observe(); }
  ~Range() { order.publish(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  Order& order;
};

/// The process that first had oneTBB start threads for this backend; 0 if none has.
std::atomic<pid_t> first_user{0};

/// Has oneTBB's one pool been left behind in a parent process? fork() copies its books, but not its threads.
bool pool_is_of_parent() noexcept {
  const pid_t user = first_user.load();
  return user != 0 && user != getpid();
}

/// How many threads oneTBB gives at most: as many as there are processors, or as the application has limited it to.
/// Asked for more, oneTBB prints a warning on stderr and gives no more. In a child of a process that used it, it has
/// none to give.
int threads_given(int threads) {
  if (pool_is_of_parent()) return 1;
  using oneapi::tbb::global_control;
  const std::size_t limit = global_control::active_value(global_control::max_allowed_parallelism);
  const int processors = oneapi::tbb::info::default_concurrency();
  return std::max(
      1, static_cast<int>(std::min({static_cast<std::size_t>(threads), limit, static_cast<std::size_t>(processors)})));
}

/// Starts `count` threads at once and ends them. Error unavailable if the system does not give so many. Tried here
/// because oneTBB starts its threads when a loop first needs them, and where the system refuses one, oneTBB throws in
/// the middle of the loop or ends the process.
void try_threads(int count) {
  static std::atomic<int> tried{0};  // oneTBB keeps its threads, so a number is tried once
  if (tried.load() >= count) return;
  std::atomic<bool> may_end{false};
  std::vector<std::thread> threads;
  const auto end = [&] {
    may_end = true;
    may_end.notify_all();
    for (std::thread& thread : threads) thread.join();
  };
  try {
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.push_back(start_thread([&] { may_end.wait(false); }));
  } catch (const std::system_error& error) {
    end();
    throw system_error(
        ErrorCode::unavailable,
        backend::sentence("oneTBB needs ", count, " more threads, but the system gives only ", threads.size()),
        error.code().value());
  } catch (...) {
    end();
    throw;
  }
  end();
  tried = count;
}

/// Team::waited_for grows with the number of threads, because the more there are, the likelier one of them is late. On
/// 16 threads of a Xeon it pays to cut chunks smaller: gemm of 512 x 512 x 512 floats takes 268 us in 16 chunks and 240
/// in 64. On 2 threads it does not.
constexpr double kWaitedForPerPair = 0.0015;
constexpr double kWaitedForAtMost = 0.35;

/// Arenas of its own keep the device's cap, and keep its tasks apart from the application's.
///
/// Loops of several queues that run at once have an arena each. In a common arena a queue's worker that found every
/// place taken would wait for a place: for ever, if the functions that hold the places wait for that very queue. In an
/// arena of its own the caller always has a place, and computes alone where oneTBB has no threads left for it.
class TbbExecutor final : public Executor {
 public:
  TbbExecutor(std::shared_ptr<ScratchPool> scratch, int threads)
      : Executor(std::move(scratch)), threads_(threads_given(threads)) {
    if (threads_ == 1) return;  // every loop runs on the thread that calls it
    try_threads(threads_ - 1);
    pid_t none = 0;
    first_user.compare_exchange_strong(none, getpid());
    give_back(make_arena());
  }
  [[nodiscard]] int threads() const noexcept override { return threads_; }

 private:
  struct Arena {
    explicit Arena(int threads) : arena(threads, 1) { arena.initialize(); }
    oneapi::tbb::task_arena arena;
    Arena* next_idle = nullptr;
  };
  /// An arena for one loop.
  class Taken {
   public:
    explicit Taken(TbbExecutor& executor) : executor_(executor), arena_(executor.take()) {}
    ~Taken() { executor_.give_back(arena_); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    [[nodiscard]] oneapi::tbb::task_arena& arena() const noexcept { return arena_->arena; }

   private:
    TbbExecutor& executor_;
    Arena* const arena_;
  };

  Arena* make_arena() {
    auto arena = std::make_unique<Arena>(threads_);
    const std::lock_guard lock(mutex_);
    arenas_.push_back(std::move(arena));
    return arenas_.back().get();
  }
  /// The one that was used last: its threads may still be awake.
  Arena* take() {
    {
      const std::lock_guard lock(mutex_);
      if (idle_ != nullptr) return std::exchange(idle_, idle_->next_idle);
    }
    return make_arena();
  }
  void give_back(Arena* arena) noexcept {
    const std::lock_guard lock(mutex_);
    arena->next_idle = std::exchange(idle_, arena);
  }

  void run(std::int64_t chunks, const Body& body) override {
    Order order;
    const Loop loop(order);
    const Taken taken(*this);
    taken.arena().execute([&] {
      oneapi::tbb::parallel_for(
          oneapi::tbb::blocked_range<std::int64_t>(0, chunks),
          [&](const oneapi::tbb::blocked_range<std::int64_t>& range) {
            const Range part(order);
            body(range.begin(), range.end());
          },
          oneapi::tbb::auto_partitioner());
    });
  }

  [[nodiscard]] double waited_for() const noexcept override {
    const double others = threads_ - 1;
    return std::min(kWaitedForPerPair * others * others, kWaitedForAtMost);
  }

  const int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> arenas_;  // as many as loops ever ran at once
  Arena* idle_ = nullptr;
};

}  // namespace

std::shared_ptr<Executor> make_tbb_executor(std::shared_ptr<ScratchPool> scratch, int threads) {
  return std::make_shared<TbbExecutor>(std::move(scratch), threads);
}

}  // namespace tessera::cpu_tbb
