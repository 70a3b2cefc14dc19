// The handler only notes the signal; SA_RESETHAND gives the second one its usual meaning.
#include "tools/process/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace tessera::tool {

namespace {

volatile std::sig_atomic_t first_signal = 0;
constexpr int kShellsCountFrom = 128;

}  // namespace

void listen_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int number) {
    if (first_signal == 0) first_signal = number;
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
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
