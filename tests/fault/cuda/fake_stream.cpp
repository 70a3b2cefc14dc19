// Streams and events of the fake card. Whoever waits is woken by the card's death as well.
#include <thread>
#include <utility>

#include "fault/cuda/fake_card.h"

namespace tessera::fake {
namespace {

/// Deaths are looked for this often by those who wait for an event.
constexpr std::chrono::milliseconds kLook{2};

}  // namespace

std::uint64_t Event::record() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}

void Event::reach(std::uint64_t record) {
  const std::lock_guard lock(mutex_);
  if (record < reached_) return;  // an earlier one, on another stream, tells nothing any more
  reached_ = record;
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

bool Event::is_reached() {
  const std::lock_guard lock(mutex_);
  return reached_ >= recorded_;
}

void Event::wait() {
  wait(recorded());
}

void Event::wait(std::uint64_t record) {
  std::unique_lock lock(mutex_);
  while (reached_ < record && card().dead == 0) changed_.wait_for(lock, kLook);
}

std::uint64_t Event::recorded() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

std::chrono::steady_clock::time_point Event::time() {
  const std::lock_guard lock(mutex_);
  return time_;
}

void Stream::start() {
  std::thread([self = shared_from_this()] { self->run(); }).detach();
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_let_go_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    is_working_ = true;
    lock.unlock();
    if (card().dead == 0) work();
    lock.lock();
    is_working_ = false;
    changed_.notify_all();
  }
}

void Stream::push(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_all();
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (work_.empty() && !is_working_) || card().dead != 0; });
}

bool Stream::is_idle() {
  const std::lock_guard lock(mutex_);
  return work_.empty() && !is_working_;
}

void Stream::let_go() {
  const std::lock_guard lock(mutex_);
  is_let_go_ = true;
  changed_.notify_all();
}

void Stream::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace tessera::fake
