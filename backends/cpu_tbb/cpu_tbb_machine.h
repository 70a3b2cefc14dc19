// What the system says about the machine: the processor's name and second-level cache, how much memory there is and how
// many threads this process may run at once, control groups included.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::cpu_tbb {

struct Machine {
  std::string cpu_name;
  std::string cpu_vendor;
  std::uint64_t memory_total_bytes = 0;  ///< physical memory, or the control group's limit if that is less
  std::uint64_t cache_bytes = 0;         ///< of one cache of the last level; 0 if the system does not say
  int threads = 1;                       ///< processors in the affinity mask, or the control group's quota if less
  double timer_resolution_s = 0;         ///< the smallest step of std::chrono::steady_clock that was seen
};

/// Asks the system.
[[nodiscard]] Machine describe_machine();

/// Memory that could be had now without swapping; 0 if the system does not say.
[[nodiscard]] std::uint64_t memory_available_bytes();

/// Of one core; 1 MiB if the system does not say. Asked once.
[[nodiscard]] std::int64_t second_level_cache_bytes();
/// Of one cache of the last level; 8 MiB if the system does not say. Asked once.
[[nodiscard]] std::int64_t last_level_cache_bytes();

}  // namespace tessera::cpu_tbb
