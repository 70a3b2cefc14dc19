// Names and directions.
#include "tools/tune/candidate.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// The values that a direction may take: of one tunable, or of a pair.
using Direction = std::vector<Tuning>;

std::vector<Direction> directions_of(const OpenVariant& variant) {
  const auto is_named_by_another = [&](const Tunable& tunable) {
    return std::any_of(variant.tunables.begin(), variant.tunables.end(),
                       [&](const Tunable& other) { return other.paired_with == tunable.name; });
  };
  std::vector<Direction> all;
  for (const Tunable& tunable : variant.tunables) {
    Direction direction;
    if (!tunable.paired_with.empty()) {
      for (const auto& [first, value] : tunable.pairs)
        direction.push_back({{tunable.paired_with, first}, {tunable.name, value}});
    } else if (!is_named_by_another(tunable)) {
      for (const std::int64_t value : tunable.values) direction.push_back({{tunable.name, value}});
    }
    if (direction.size() > 1) all.push_back(std::move(direction));
  }
  return all;
}

}  // namespace

std::string to_string(const Candidate& candidate) {
  std::string text = candidate.variant;
  for (const auto& [name, value] : candidate.tuning) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string_view to_string(TrialStatus status) noexcept {
  switch (status) {
    case TrialStatus::right: return "right";
    case TrialStatus::wrong: return "wrong";
    case TrialStatus::failed: return "failed";
    case TrialStatus::skipped: return "skipped";
  }
  return "";
}

Candidate preferred_of(const OpenVariant& variant) {
  Candidate candidate{variant.name, {}};
  for (const Tunable& tunable : variant.tunables) candidate.tuning[tunable.name] = tunable.preferred;
  return candidate;
}

std::size_t directions(const OpenVariant& variant) {
  return directions_of(variant).size();
}

std::vector<Candidate> along(const OpenVariant& variant, const Candidate& from, std::size_t direction) {
  std::vector<Candidate> candidates;
  const std::vector<Direction> all = directions_of(variant);
  for (const Tuning& step : all.at(direction)) {
    Candidate candidate = from;
    for (const auto& [name, value] : step) candidate.tuning[name] = value;
    if (candidate == from || find_unpaired(variant.tunables, candidate.tuning) != nullptr) continue;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

bool allows(const VariantReport& report, const Tuning& tuning) {
  if (!report.can_run || find_unpaired(report.tunables, tuning) != nullptr) return false;
  return std::all_of(tuning.begin(), tuning.end(), [&](const auto& named) {
    return std::any_of(report.tunables.begin(), report.tunables.end(), [&](const Tunable& tunable) {
      return tunable.name == named.first &&
             std::find(tunable.values.begin(), tunable.values.end(), named.second) != tunable.values.end();
    });
  });
}

}  // namespace tessera::tool
