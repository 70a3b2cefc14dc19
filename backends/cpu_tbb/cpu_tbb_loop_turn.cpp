// Waiting for the turn: at first other loops may go ahead, then none may any more, and in the end the thread gives up
// and computes without the turn.
#include "cpu_tbb_loop_turn.h"

#include <chrono>
#include <utility>

namespace tessera::cpu_tbb {

namespace {

/// For so long a sleeping queue lets loops of awake queues go ahead: waking it first would cost both of them time while
/// loops are short.
constexpr std::chrono::milliseconds kPolite{1};
/// For so long a queue waits at all, because the loop that has the turn may wait for this queue without saying so (in a
/// thread of its own, for example), and then would wait for ever. Loops that take longer are rare; after one a queue
/// only computes on its own thread until it gets the turn.
constexpr std::chrono::milliseconds kPatience{100};

// Model initial-exec puts this into the memory that every thread starts with. By the usual model for plug-ins that
// memory is allocated on first use, and a failure to allocate it ends the process.
[[gnu::tls_model("initial-exec")]] constinit thread_local LoopTurn* loop_of_this_thread = nullptr;

}  // namespace

bool LoopTurn::wait() {
  std::unique_lock lock(mutex_);
  if (!taken_ && hungry_ == 0) {
    taken_ = true;
    ++number_;
    return true;
  }
  const auto is_free = [this] { return !taken_; };
  const auto is_vain = [this] { return taken_ && (waiting_ > 0 || given_up_ == number_); };
  ++asking_;
  changed_.wait_for(lock, kPolite, [&] { return (is_free() && hungry_ == 0) || is_vain(); });
  if (!is_free() || hungry_ > 0) {
    ++hungry_;
    changed_.wait_for(lock, kPatience, [&] { return is_free() || is_vain(); });
    --hungry_;
  }
  --asking_;
  if (taken_) {
    given_up_ = number_;
    return false;
  }
  taken_ = true;
  ++number_;
  return true;
}

bool LoopTurn::try_take() {
  const std::lock_guard lock(mutex_);
  if (taken_) return false;
  taken_ = true;
  ++number_;
  return true;
}

void LoopTurn::give_back() {
  bool is_asked_for = false;
  {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    is_asked_for = asking_ > 0;
  }
  if (is_asked_for) changed_.notify_all();
}

void LoopTurn::note_waiting(int change) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ += change;
  }
  if (change > 0) changed_.notify_all();
}

LoopTurn::Inside::Inside(LoopTurn& turn) noexcept : outer_(std::exchange(loop_of_this_thread, &turn)) {}

LoopTurn::Inside::~Inside() {
  loop_of_this_thread = outer_;
}

bool LoopTurn::is_inside() const noexcept {
  return loop_of_this_thread == this;
}

WaitInsideLoop::WaitInsideLoop() : turn_(loop_of_this_thread) {
  if (turn_ != nullptr) turn_->note_waiting(1);
}

WaitInsideLoop::~WaitInsideLoop() {
  if (turn_ != nullptr) turn_->note_waiting(-1);
}

}  // namespace tessera::cpu_tbb
