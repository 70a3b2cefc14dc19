// The middle of several rounds.
#include "tools/bench/rounds.h"

#include <algorithm>
#include <utility>

namespace tessera::tool {

BenchRecord middle_of(std::vector<BenchRecord> rounds) {
  for (BenchRecord& record : rounds) {
    if (record.status != BenchStatus::verified) return std::move(record);
  }
  std::vector<double> medians_s;
  for (const BenchRecord& record : rounds)
    medians_s.insert(medians_s.end(), record.rounds_s.begin(), record.rounds_s.end());
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>((rounds.size() - 1) / 2);
  std::nth_element(rounds.begin(), middle, rounds.end(),
                   [](const BenchRecord& left, const BenchRecord& right) { return speed_of(left) < speed_of(right); });
  BenchRecord record = std::move(*middle);
  record.rounds_s = std::move(medians_s);
  return record;
}

}  // namespace tessera::tool
