// A hook by which tests make the system refuse memory that is not taken by operator new, and threads. Only a test's
// build of this plug-in defines the hook. In the plug-in that users have its address is null, and asking costs a
// comparison beside a system call.
#pragma once

namespace tessera::cpu_tbb {

enum class Refusable : unsigned char { memory, thread };

/// Shall this request be refused as if the system had none left? Defined by tests/fault/cpu_tbb alone.
[[gnu::weak, gnu::visibility("hidden")]] bool fault_hook(Refusable what) noexcept;

[[nodiscard]] inline bool is_refused(Refusable what) noexcept {
  return fault_hook != nullptr && fault_hook(what);
}

}  // namespace tessera::cpu_tbb
