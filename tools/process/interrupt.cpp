// One thread waits for the signals, and every other has them blocked. A handler would not do: drivers put theirs in its
// place. LLVM's, which comes with PoCL, is meant for one signal, and a second one right behind it ended the program.
#include "tools/process/interrupt.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

namespace tessera::tool {

namespace {

std::atomic<int> first_signal = 0;
static_assert(decltype(first_signal)::is_always_lock_free);
bool device_work_is_abandoned = false;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::chrono::milliseconds kSameRequest(500);
constexpr int kShellsCountFrom = 128;

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// As if nobody had listened.
void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t alone;
  sigemptyset(&alone);
  sigaddset(&alone, signal);
  pthread_sigmask(SIG_UNBLOCK, &alone, nullptr);
  std::raise(signal);
}

void wait_for(const sigset_t& signals) {
  using Clock = std::chrono::steady_clock;
  std::map<int, Clock::time_point> first_times;
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    int none = 0;
    first_signal.compare_exchange_strong(none, signal);
    const auto [first, is_first] = first_times.try_emplace(signal, Clock::now());
    if (!is_first && Clock::now() - first->second >= kSameRequest) end_by(signal);
  }
}

}  // namespace

void listen_for_interrupt() {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : kSignals) sigaddset(&blocked, signal);
  sigset_t awaited = blocked;
  if (is_ignored(SIGHUP)) sigdelset(&awaited, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::thread(wait_for, awaited).detach();
}

bool is_interrupted() noexcept {
  return first_signal != 0;
}

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

void abandon_device_work() noexcept {
  device_work_is_abandoned = true;
}

bool is_device_work_abandoned() noexcept {
  return device_work_is_abandoned;
}

const char* interrupting_signal() noexcept {
  switch (first_signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    default: return "";
  }
}

int interrupt_exit_code() noexcept {
  return kShellsCountFrom + first_signal;
}

}  // namespace tessera::tool
