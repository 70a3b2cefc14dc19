// The handler of SIGINT only sets a flag; SA_RESETHAND gives the second Ctrl-C its usual meaning.
#include "tools/interrupt.h"

#include <csignal>

namespace tessera::tool {

namespace {
volatile std::sig_atomic_t interrupt_flag = 0;
}

void listen_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_flag = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() noexcept {
  return interrupt_flag != 0;
}

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

}  // namespace tessera::tool
