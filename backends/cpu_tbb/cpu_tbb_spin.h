// A short busy wait before a thread goes to sleep: waking a sleeper costs more than a small kernel runs.
#pragma once

#include <thread>

namespace tessera::cpu_tbb {

/// About 10 to 20 microseconds of trying, less than what a sleep and a wake-up cost together.
inline constexpr int kSpins = 400;

/// Tries `ready` for some microseconds and returns whether it came true. On a single processor it tries once: whoever
/// could make it true is waiting for this processor.
template <class Ready>
[[nodiscard]] bool spin_until(Ready&& ready) {
  static const int spins = std::thread::hardware_concurrency() > 1 ? kSpins : 1;
  for (int spin = 0; spin < spins; ++spin) {
    if (ready()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
  return false;
}

}  // namespace tessera::cpu_tbb
