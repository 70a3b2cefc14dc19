// The static executor: each thread of a fixed pool takes one contiguous range of every loop, as the rows of an image
// are divided in the convolution studies that this device is compared with. No stealing, so the slowest range decides.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
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
#include "cpu_tbb_loop_turn.h"
#include "cpu_tbb_spin.h"
#include "cpu_tbb_thread.h"

namespace tessera::cpu_tbb {

namespace {

class StaticExecutor final : public Executor {
 public:
  StaticExecutor(std::shared_ptr<ScratchPool> scratch, int threads)
      : Executor(std::move(scratch)), exceptions_(static_cast<std::size_t>(threads)) {
    pool_.reserve(exceptions_.size());
    try {
      for (int thread = 1; thread < threads; ++thread) pool_.push_back(start_thread([this, thread] { serve(thread); }));
    } catch (const std::system_error& error) {
      stop();
      throw system_error(ErrorCode::unavailable,
                         backend::sentence("the static pool needs ", threads, " threads, but the system gives only ",
                                           pool_.size() + 1),
                         error.code().value());
    } catch (...) {
      stop();
      throw;
    }
  }
  ~StaticExecutor() override { stop(); }

  [[nodiscard]] int threads() const noexcept override { return static_cast<int>(exceptions_.size()); }

 private:
  /// Loops of several queues run one after the other, each on all threads. One whose turn cannot come, because the loop
  /// before it waits, perhaps for this very one, begins on the calling thread, chunk by chunk, until it gets the turn.
  void run(std::int64_t chunks, const Body& body) override {
    if (turn_.is_inside()) return body(0, chunks);
    std::int64_t first = 0;
    bool has_turn = turn_.wait();
    for (; !has_turn && first < chunks; has_turn = turn_.try_take(), ++first) body(first, first + 1);
    if (!has_turn) return;
    const std::unique_ptr<LoopTurn, GiveBack> turn(&turn_);
    if (first < chunks) run_on_pool(first, chunks, body);
  }
  struct GiveBack {
    void operator()(LoopTurn* turn) const noexcept { turn->give_back(); }
  };

  void run_on_pool(std::int64_t first, std::int64_t last, const Body& body) {
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      first_ = first;
      chunks_ = last - first;
      std::ranges::fill(exceptions_, nullptr);
      busy_.store(static_cast<int>(pool_.size()), std::memory_order_relaxed);
      loop_number_.fetch_add(1, std::memory_order_release);
    }
    begin_.notify_all();
    work(0);
    const auto all_done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
    if (!spin_until(all_done, kSpinsOfTeam)) {
      std::unique_lock lock(mutex_);
      end_.wait(lock, all_done);
    }
    const auto thrown = std::ranges::find_if(exceptions_, [](const auto& exception) { return exception != nullptr; });
    if (thrown != exceptions_.end()) std::rethrow_exception(std::exchange(*thrown, nullptr));
  }

  /// Thread `thread`'s share of the loop: the first chunks % threads() shares are one chunk longer.
  void work(int thread) noexcept {
    const std::int64_t share = chunks_ / threads();
    const std::int64_t longer = chunks_ % threads();
    const std::int64_t first = first_ + thread * share + std::min<std::int64_t>(thread, longer);
    const std::int64_t last = first + share + (thread < longer ? 1 : 0);
    if (first == last) return;
    const LoopTurn::Inside inside(turn_);
    try {
      (*body_)(first, last);
    } catch (...) {
      exceptions_[static_cast<std::size_t>(thread)] = std::current_exception();
    }
  }

  void serve(int thread) noexcept {
    for (std::uint64_t seen = 0;;) {
      const auto changed = [&] { return loop_number_.load(std::memory_order_acquire) != seen; };
      if (!spin_until(changed, kSpinsOfTeam)) {
        std::unique_lock lock(mutex_);
        begin_.wait(lock, changed);
      }
      if (stopping_.load(std::memory_order_relaxed)) return;
      ++seen;
      work(thread);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);
        end_.notify_one();
      }
    }
  }

  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_.store(true, std::memory_order_relaxed);
      loop_number_.fetch_add(1, std::memory_order_release);
    }
    begin_.notify_all();
    for (std::thread& thread : pool_) thread.join();
  }

  LoopTurn turn_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::atomic<std::uint64_t> loop_number_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> stopping_{false};
  const Body* body_ = nullptr;  // this and the next two belong to the loop in progress
  std::int64_t first_ = 0;
  std::int64_t chunks_ = 0;
  std::vector<std::exception_ptr> exceptions_;  // one for each thread, the caller first
  std::vector<std::thread> pool_;               // threads 1 and up
};

}  // namespace

std::shared_ptr<Executor> make_static_executor(std::shared_ptr<ScratchPool> scratch, int threads) {
  return std::make_shared<StaticExecutor>(std::move(scratch), threads);
}

}  // namespace tessera::cpu_tbb
