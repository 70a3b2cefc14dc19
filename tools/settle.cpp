// The process's own account of processor time tells whether any of its threads runs, whoever started it: OpenBLAS's
// threads spin for 120 ms after a call and those of GCC's OpenMP for 4 ms (libopenblas0-pthread 0.3.21, libgomp 12),
// and neither tells. Environment variables that forbid spinning would do too, but not at no cost: with
// OMP_WAIT_POLICY=passive oneDNN takes 162 us instead of 95 us for 256 x 256 x 256 on two cores of a Xeon.
#include "tools/settle.h"

#include <sys/resource.h>

#include <chrono>
#include <thread>

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kWindow = std::chrono::milliseconds(2);
/// Of one processor: waking up and looking takes far less.
constexpr double kAtRest = 0.1;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

bool settle(double limit_s) {
  const auto start = Clock::now();
  for (;;) {
    const auto begin = Clock::now();
    const double before = processor_seconds();
    std::this_thread::sleep_for(kWindow);
    const double used = processor_seconds() - before;
    const auto now = Clock::now();
    if (used < kAtRest * std::chrono::duration<double>(now - begin).count()) return true;
    if (std::chrono::duration<double>(now - start).count() >= limit_s) return false;
  }
}

}  // namespace tessera::tool
