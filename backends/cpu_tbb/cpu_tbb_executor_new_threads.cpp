// The executor that creates its threads for every loop, as a program does that starts threads where it needs them: what
// the published study of convolution measured. A standing pool is faster; how much is what studies ask.
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_tbb_executor.h"
#include "cpu_tbb_thread.h"

namespace tessera::cpu_tbb {

namespace {

class NewThreadsExecutor final : public Executor {
 public:
  NewThreadsExecutor(std::shared_ptr<ScratchPool> scratch, int threads)
      : Executor(std::move(scratch)), threads_(threads) {}

  [[nodiscard]] int threads() const noexcept override { return threads_; }

 private:
  /// One contiguous range for each thread, the caller's the first. All are joined, whatever was thrown.
  void run(std::int64_t chunks, const Body& body) override {
    std::vector<std::exception_ptr> exceptions(static_cast<std::size_t>(threads_));
    const auto compute = [&](int thread) noexcept {
      const std::int64_t first = chunks * thread / threads_;
      const std::int64_t last = chunks * (thread + 1) / threads_;
      try {
        if (first < last) body(first, last);
      } catch (...) {
        exceptions[static_cast<std::size_t>(thread)] = std::current_exception();
      }
    };
    std::vector<std::thread> started;
    started.reserve(exceptions.size());
    int next = 1;
    try {
      for (; next < threads_; ++next) started.push_back(start_thread([&compute, next] { compute(next); }));
    } catch (const std::exception&) {
      // Refused by the system, or no memory for it: the ranges from `next` on are the caller's.
    }
    compute(0);
    for (; next < threads_; ++next) compute(next);
    for (std::thread& thread : started) thread.join();
    for (const std::exception_ptr& exception : exceptions) {
      if (exception != nullptr) std::rethrow_exception(exception);
    }
  }

  const int threads_;
};

}  // namespace

std::unique_ptr<Executor> make_executor_of_new_threads(std::shared_ptr<ScratchPool> scratch, int threads) {
  return std::make_unique<NewThreadsExecutor>(std::move(scratch), threads);
}

}  // namespace tessera::cpu_tbb
