// Rates of earlier cases.
#include "tools/bench/speed_history.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

constexpr double kWarpsOfAUnit = 64;
constexpr double kLanesOfAVector = 16;

}  // namespace

double headroom_of(const DeviceInfo& info) noexcept {
  const double units = std::max(info.compute_units, 1U);
  return units * (info.kind == DeviceKind::cpu ? kLanesOfAVector : kWarpsOfAUnit);
}

void SpeedHistory::add(const std::string& key, double work, double seconds) {
  if (!(work > 0) || !(seconds > 0)) return;
  Known& known = known_[key];
  known.highest_rate = std::max(known.highest_rate, work / seconds);
  known.most_work = std::max(known.most_work, work);
}

Expectation SpeedHistory::expect(const std::string& key, double work, double headroom) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return {};
  const Known& known = found->second;
  const double likely_s = work / known.highest_rate;
  const bool is_near = work <= kNear * known.most_work;
  return {.likely_s = likely_s, .least_s = likely_s / (is_near ? kDoubt : std::max(headroom, kDoubt))};
}

std::string to_string(const Expectation& expectation) {
  return fmt::format("one run would take about {}, and {} at least, judged by earlier cases",
                     format_seconds(expectation.likely_s), format_seconds(expectation.least_s));
}

}  // namespace tessera::tool
