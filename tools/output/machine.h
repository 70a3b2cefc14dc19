// The facts about the machine that every result file opens with.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::tool {

/// What the system does not tell is "unknown" or 0.
struct Machine {
  std::string cpu;
  unsigned cores = 0;    ///< physical ones
  unsigned threads = 0;  ///< hardware threads that this process may use
  std::uint64_t memory_bytes = 0;
  std::string os;
  std::string kernel;
};

[[nodiscard]] Machine this_machine();
/// Now, in UTC: "2025-01-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace tessera::tool
