// The oneTBB executor. Alone in its file because this is the only one that includes oneTBB's templates.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>

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

/// What oneTBB gives at most, by the processors and by a limit that the application has set. Asked for more, it prints
/// a warning on stderr and gives no more.
int threads_given(int threads) {
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

/// An arena of its own keeps the device's cap, and keeps its tasks apart from the application's.
class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(int threads) : threads_(threads_given(threads)), arena_(threads_, 1) { arena_.initialize(); }
  [[nodiscard]] int threads() const noexcept override { return threads_; }

 private:
  void run(std::int64_t chunks, const Body& body) override {
    Order order;
    const Loop loop(order);
    arena_.execute([&] {
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
  oneapi::tbb::task_arena arena_;
};

}  // namespace

std::shared_ptr<Executor> make_tbb_executor(int threads) {
  return std::make_shared<TbbExecutor>(threads);
}

}  // namespace tessera::cpu_tbb
