// Combinations of tuning values.
#include "conformance/tunings.h"

#include <algorithm>
#include <utility>

namespace tessera::conformance {

std::vector<Tuning> each_value(const std::vector<Tunable>& tunables) {
  std::vector<Tuning> tunings;
  for (const Tunable& tunable : tunables) {
    for (const auto& [first, value] : tunable.pairs) {
      tunings.push_back({{tunable.paired_with, first}, {tunable.name, value}});
    }
    const bool is_in_pairs = !tunable.paired_with.empty() ||
                             std::any_of(tunables.begin(), tunables.end(),
                                         [&](const Tunable& other) { return other.paired_with == tunable.name; });
    if (is_in_pairs) continue;
    for (const std::int64_t value : tunable.values) tunings.push_back({{tunable.name, value}});
  }
  return tunings;
}

std::vector<Tuning> all_combinations(const std::vector<Tunable>& tunables, std::size_t most) {
  std::vector<Tuning> all{{}};
  for (const Tunable& tunable : tunables) {
    if (all.size() * tunable.values.size() > most) return each_value(tunables);
    std::vector<Tuning> longer;
    for (const std::int64_t value : tunable.values) {
      for (Tuning tuning : all) {
        tuning.emplace(tunable.name, value);
        longer.push_back(std::move(tuning));
      }
    }
    all = std::move(longer);
  }
  if (tunables.empty()) return {};
  std::erase_if(all, [&](const Tuning& tuning) { return find_unpaired(tunables, tuning) != nullptr; });
  return all;
}

}  // namespace tessera::conformance
