// Combinations of tuning values.
#include "conformance/tunings.h"

#include <algorithm>
#include <utility>

namespace tessera::conformance {
namespace {

/// Of the values that are named so far.
bool pairs_exist(const std::vector<Tunable>& tunables, const Tuning& tuning) {
  return std::all_of(tunables.begin(), tunables.end(), [&](const Tunable& second) {
    const auto first_value = tuning.find(second.paired_with);
    const auto value = tuning.find(second.name);
    if (first_value == tuning.end() || value == tuning.end()) return true;
    const std::pair values{first_value->second, value->second};
    return std::find(second.pairs.begin(), second.pairs.end(), values) != second.pairs.end();
  });
}

}  // namespace

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
  if (tunables.empty()) return {};
  std::vector<Tuning> all{{}};
  for (const Tunable& tunable : tunables) {
    std::vector<Tuning> longer;
    for (const std::int64_t value : tunable.values) {
      for (Tuning tuning : all) {
        tuning.emplace(tunable.name, value);
        if (pairs_exist(tunables, tuning)) longer.push_back(std::move(tuning));
      }
    }
    if (longer.size() > most) return each_value(tunables);
    all = std::move(longer);
  }
  return all;
}

}  // namespace tessera::conformance
