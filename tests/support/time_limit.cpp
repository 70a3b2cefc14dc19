// One thread for all limits, because a test asks for thousands of them.
#include "support/time_limit.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tessera::testing_support {
namespace {

using Clock = std::chrono::steady_clock;

class Watch {
 public:
  Watch() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  void set(std::string what, Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    end_ = end;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    end_.reset();
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
      if (!end_ || Clock::now() < *end_) continue;
      std::fprintf(stderr, "did not return in time: %s\n", what_.c_str());
      std::fflush(nullptr);
      std::_Exit(1);
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string what_;
  std::optional<Clock::time_point> end_;
  std::jthread thread_;
};

Watch& the_watch() {
  static Watch watch;
  return watch;
}

}  // namespace

TimeLimit::TimeLimit(std::string what, double seconds) {
  the_watch().set(std::move(what),
                  Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}
TimeLimit::~TimeLimit() {
  the_watch().clear();
}

}  // namespace tessera::testing_support
