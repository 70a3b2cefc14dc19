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
#include <utility>
#include <vector>

#include "cpu_tbb_executor.h"

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

/// What oneTBB gives at most, by the processors and by a limit that the application has set. Asked for more, it prints
/// a warning on stderr and gives no more. In a child of a process that used it, it has none to give.
int threads_given(int threads) {
  if (pool_is_of_parent()) return 1;
  using oneapi::tbb::global_control;
  const std::size_t limit = global_control::active_value(global_control::max_allowed_parallelism);
  const int processors = oneapi::tbb::info::default_concurrency();
  return std::max(
      1, static_cast<int>(std::min({static_cast<std::size_t>(threads), limit, static_cast<std::size_t>(processors)})));
}

/// The more threads, the likelier one of them is late. Of 16 threads of a Xeon 0.3 to 0.5: gemm of 512 x 512 x 512
/// floats takes 268 us in 16 chunks, 257 in 32 and 240 in 64; 2048 x 256 x 256 258, 230 and 226. Of 2 threads next to
/// none: with 0.023, which cuts 2048 x 2048 x 2048 floats into more chunks than this, they take 48.5 ms, 46.7 without.
constexpr double kWaitedForPerPair = 0.0015;
constexpr double kWaitedForAtMost = 0.35;

/// Arenas of its own keep the device's cap, and keep its tasks apart from the application's.
///
/// Loops of several queues that run at once have an arena each. In one for all, a queue's worker that finds every place
/// taken waits for one, for ever if what runs in them is a program's function that waits for that very queue. An
/// arena's caller always has a place, and computes alone where oneTBB has no threads left for it.
class TbbExecutor final : public Executor {
 public:
  TbbExecutor(std::shared_ptr<ScratchPool> scratch, int threads)
      : Executor(std::move(scratch)), threads_(threads_given(threads)) {
    if (threads_ == 1) return;  // its loops run where they are called
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
