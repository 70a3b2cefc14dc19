// How much of the machine's processor time goes to others than this process: other programs, the system, and other
// machines on the same host. What is measured meanwhile is slower by that, and says nothing of a program.
#pragma once

#include <chrono>
#include <optional>

namespace tessera::tool {

/// Processor time so far, in seconds: of all processors together, and of this process.
struct ProcessorTime {
  double busy_s = 0;
  double own_s = 0;
};

/// Nothing where the system does not tell.
[[nodiscard]] std::optional<ProcessorTime> processor_time();

/// Looks at the time from its making on.
class OtherLoad {
 public:
  OtherLoad() : start_(processor_time()) {}
  /// From 0, nobody else ran, to 1; nothing for less than a twentieth of a second, which the system counts too
  /// coarsely.
  [[nodiscard]] std::optional<double> share() const;

 private:
  std::optional<ProcessorTime> start_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::tool
