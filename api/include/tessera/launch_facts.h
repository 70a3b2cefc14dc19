// What a driver says of the kernel functions that a queue launches: registers, memory, how many groups fit. See
// Queue::watch_launches().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

/// One kernel function with one size of group and of its memory. A number that the driver does not tell is absent.
struct LaunchFacts {
  std::string function;                             ///< as the driver names it; "" where it does not
  std::uint64_t launches = 0;                       ///< while it was watched
  std::uint64_t groups = 0;                         ///< of the largest of these launches
  std::uint64_t group_size = 0;                     ///< work-items of a group
  std::optional<std::uint64_t> registers;           ///< of 32 bits, for each work-item
  std::optional<std::uint64_t> spilled_bytes;       ///< for each work-item, in memory: what registers did not hold
  std::optional<std::uint64_t> local_memory_bytes;  ///< for each group
  std::optional<std::uint64_t> groups_per_unit;     ///< that one compute unit can hold at a time
  std::optional<double> occupancy;                  ///< work-items of these groups over the most that a unit can hold
};

}  // namespace tessera
