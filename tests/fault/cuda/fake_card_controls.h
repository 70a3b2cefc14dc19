// What a test may do to the fake card. The fake libcuda.so.1 exports tessera_fake_card(), which is not there on a
// machine with a card: a test asks the loader for it.
#pragma once

#include <cstddef>

namespace tessera::fake {

struct CardControls {
  /// Each kernel takes at least so long.
  void (*set_kernel_us)(int microseconds);
  /// A host function is called so long after its turn came, whether the card has died meanwhile or not.
  void (*set_host_function_us)(int microseconds);
  /// The context dies: every call answers `code` from now on, and what is queued is dropped.
  void (*kill)(int code);
  /// As a new process would find it. Nothing is queued.
  void (*revive)();
  void (*set_memory_bytes)(std::size_t bytes);
  /// Asked for by a device when it is opened. 9.0 before the first call.
  void (*set_compute_capability)(int major, int minor);
  /// How often a command touched memory that is not the card's any more, or a stream was destroyed while it worked.
  long (*misuses)();
};

using CardControlsFunction = const CardControls* (*)();

}  // namespace tessera::fake
