// Linux counts the ticks of all processors in /proc/stat; those of this process come with getrusage().
#include "tools/process/other_load.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

namespace tessera::tool {

namespace {

constexpr double kShortest_s = 0.05;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<ProcessorTime> processor_time() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  // user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen by other machines
  std::array<double, 8> ticks{};
  file >> cpu;
  for (double& one : ticks) file >> one;
  const long ticks_per_s = ::sysconf(_SC_CLK_TCK);
  rusage own{};
  if (!file || cpu != "cpu" || ticks_per_s <= 0 || ::getrusage(RUSAGE_SELF, &own) != 0) return std::nullopt;
  double busy = 0;
  for (const std::size_t i : {0, 1, 2, 5, 6, 7}) busy += ticks[i];
  return ProcessorTime{busy / static_cast<double>(ticks_per_s), seconds_of(own.ru_utime) + seconds_of(own.ru_stime)};
}

std::optional<double> OtherLoad::share() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const std::optional<ProcessorTime> now = processor_time();
  if (!start_ || !now || seconds < kShortest_s) return std::nullopt;
  const double others_s = (now->busy_s - start_->busy_s) - (now->own_s - start_->own_s);
  const double all_s = seconds * std::max(1U, std::thread::hardware_concurrency());
  return std::clamp(others_s / all_s, 0.0, 1.0);
}

}  // namespace tessera::tool
