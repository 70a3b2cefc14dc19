// A short busy wait before a thread goes to sleep: waking a sleeper costs more than a small kernel runs.
#pragma once

#include <mutex>
#include <thread>

namespace tessera::cpu_tbb {

/// About 10 to 20 microseconds of trying, less than what a sleep and a wake-up cost together.
inline constexpr int kSpins = 400;
/// About 200 microseconds, for threads that wait for each other within a loop or between two loops: with a shorter time
/// the first thread to be done falls asleep while the last still works. On two cores of a Xeon gemm of 256 x 256 x 256
/// floats with the static partition takes 101 us so, and 188 us with the shorter time.
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

/// Locks a mutex that guards a few instructions: whoever holds it lets go of it sooner than this thread could fall
/// asleep. A mutex that is simply locked goes to the system at once if it is taken.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  if (!spin_until([&] { return lock.try_lock(); })) lock.lock();
  return lock;
}

}  // namespace tessera::cpu_tbb
