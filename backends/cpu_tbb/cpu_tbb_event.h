// Events: a point on a queue that is passed once, with the time of that moment and the queue's failure, if there is
// one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/backend.h"

namespace tessera::cpu_tbb {

/// What an event and the queue's worker share, so that either may go first.
class EventState {
 public:
  /// Called once, by the queue's worker. `failure` is the queue's first error so far.
  void complete(const std::optional<Error>& failure) noexcept;
  /// Blocks until complete() was called; throws the failure.
  void wait();
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] std::chrono::steady_clock::time_point time() const noexcept { return time_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> done_{false};
  std::chrono::steady_clock::time_point time_;  // these two are written before done_ is set, and never again
  std::optional<Error> failure_;
};

class CpuTbbEvent final : public backend::Event {
 public:
  explicit CpuTbbEvent(std::shared_ptr<EventState> state) noexcept : state_(std::move(state)) {}
  void wait() override { state_->wait(); }
  [[nodiscard]] bool is_done() override { return state_->is_done(); }
  [[nodiscard]] double seconds_since(backend::Event& start) override;
  [[nodiscard]] const std::shared_ptr<EventState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<EventState> state_;
};

}  // namespace tessera::cpu_tbb
