// How a test reaches the hook inside of the plug-in: by dlsym, where it is loaded as one.
#pragma once

#include "cpu_tbb_fault_hook.h"

namespace tessera::fault {

/// Answers whether a request is refused. Called from any thread.
using Refuses = bool (*)(cpu_tbb::Refusable what) noexcept;

inline constexpr const char* kSetHookSymbol = "tessera_fault_set_cpu_tbb_hook";

}  // namespace tessera::fault

/// Null: nothing is refused.
extern "C" __attribute__((visibility("default"))) void tessera_fault_set_cpu_tbb_hook(tessera::fault::Refuses refuses);
