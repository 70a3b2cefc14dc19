// A short busy wait before a thread goes to sleep: waking a sleeper costs more than a small kernel runs.
#pragma once

#include <thread>

namespace tessera::cpu_tbb {

/// About 10 to 20 microseconds of trying, less than what a sleep and a wake-up cost together.
inline constexpr int kSpins = 400;
/// About 200, for threads that wait for each other within a loop or between two: the first to be done would sleep while
/// the last still works. The static partition on two cores of a Xeon: gemm of 256 x 256 x 256 floats 101 us, 188 with
/// the shorter time; on 16 cores 46 and 62.
inline constexpr int kSpinsOfTeam = 10 * kSpins;

/// Tries `ready` for some microseconds and returns whether it came true. On a single processor it tries once: whoever
/// could make it true is waiting for this processor.
template <class Ready>
[[nodiscard]] bool spin_until(Ready&& ready, int most_spins = kSpins) {
  static const bool has_several_processors = std::thread::hardware_concurrency() > 1;
  const int spins = has_several_processors ? most_spins : 1;
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
