// Waiting for a point on a queue, first awake and then asleep.
#include "cpu_tbb_event.h"

#include "cpu_tbb_loop_turn.h"
#include "cpu_tbb_spin.h"

namespace tessera::cpu_tbb {

void EventState::complete(const std::optional<Error>& failure) noexcept {
  const std::lock_guard lock(mutex_);
  time_ = std::chrono::steady_clock::now();
  failure_ = failure;
  done_.store(true, std::memory_order_release);
  changed_.notify_all();
}

void EventState::wait() {
  const auto done = [this] { return done_.load(std::memory_order_acquire); };
  if (!spin_until(done)) {
    const WaitInsideLoop waiting;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, done);
  }
  if (failure_) throw Error(*failure_);
}

bool EventState::is_done() const {
  if (!done_.load(std::memory_order_acquire)) return false;
  if (failure_) throw Error(*failure_);
  return true;
}

double CpuTbbEvent::seconds_since(backend::Event& start) {
  const auto& other = static_cast<CpuTbbEvent&>(start);
  return std::chrono::duration<double>(state_->time() - other.state_->time()).count();
}

}  // namespace tessera::cpu_tbb
