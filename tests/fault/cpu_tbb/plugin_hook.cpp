// The hook that cpu_tbb declares: asks whoever the test has named.
#include "plugin_hook.h"

#include <atomic>

namespace {

std::atomic<tessera::fault::Refuses> asked{nullptr};

}  // namespace

namespace tessera::cpu_tbb {

bool fault_hook(Refusable what) noexcept {
  const fault::Refuses refuses = asked.load();
  return refuses != nullptr && refuses(what);
}

}  // namespace tessera::cpu_tbb

void tessera_fault_set_cpu_tbb_hook(tessera::fault::Refuses refuses) {
  asked = refuses;
}
