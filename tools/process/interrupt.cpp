// The handler notes the first signal. A later one gets its usual meaning back and is raised again; it arrives when the
// handler returns, because a signal is held back while its handler runs.
#include "tools/process/interrupt.h"

#include <csignal>
#include <ctime>
#include <iterator>

namespace tessera::tool {

namespace {

volatile std::sig_atomic_t first_signal = 0;
bool device_work_is_abandoned = false;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
/// When a signal of each kind came first, in milliseconds of the steady clock; 0 if none did. Only the handler looks.
volatile long long first_times_ms[std::size(kSignals)] = {};
constexpr long long kSameRequestMs = 500;
constexpr int kShellsCountFrom = 128;

long long now_ms() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1000000 + 1;
}

extern "C" void note_signal(int number) {
  if (first_signal == 0) first_signal = number;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != number) continue;
    const long long now = now_ms();
    if (first_times_ms[i] == 0) {
      first_times_ms[i] = now;
    } else if (now - first_times_ms[i] >= kSameRequestMs) {
      std::signal(number, SIG_DFL);
      std::raise(number);
    }
  }
}

}  // namespace

void listen_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : kSignals) {
    struct sigaction before = {};
    if (number == SIGHUP && sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
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
  return kShellsCountFrom + static_cast<int>(first_signal);
}

}  // namespace tessera::tool
