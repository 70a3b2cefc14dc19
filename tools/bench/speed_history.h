// How long a run will take, judged by what was measured before it: so that what could not end within the time limit is
// not begun, and what only seems so is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tessera/device.h>

namespace tessera::tool {

/// By how many times the rate of work can rise at most from a problem that leaves nearly all of the device idle to one
/// that fills it. A small problem may have one warp on one multiprocessor, where a full one has 64 on each; or one lane
/// of one thread's vectors on a processor, where 16 work on each.
[[nodiscard]] double headroom_of(const DeviceInfo& info) noexcept;

/// What to expect of a run; 0 where nothing is known.
struct Expectation {
  double likely_s = 0;
  double least_s = 0;  ///< only beyond this is a run left out
};

/// The runs that were measured, by a key of the caller's (device, operator, variant, type).
class SpeedHistory {
 public:
  /// A run of so much work (operations, or bytes where there are none) took so long.
  void add(const std::string& key, double work, double seconds);

  /// By the highest rate that was seen: a disturbed measurement must not keep others from being tried. A case within
  /// kNear of this work tells its time within kDoubt, because shapes differ; a much smaller one only what it would be
  /// if that one had left the device idle by all of its `headroom`.
  [[nodiscard]] Expectation expect(const std::string& key, double work, double headroom) const;

  static constexpr double kNear = 4;
  static constexpr double kDoubt = 4;

 private:
  struct Known {
    double highest_rate = 0;  ///< work a second
    double most_work = 0;     ///< of one case
  };
  std::map<std::string, Known> known_;
};

/// "one run would take about 9 s, and 2.3 s at least, judged by earlier cases".
[[nodiscard]] std::string to_string(const Expectation& expectation);

}  // namespace tessera::tool
