// Coordinate descent in each variant, successive halving between them.
#include "tools/tune/search.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::tool {

namespace {

/// A variant that is so many times slower than the fastest as it is preferred: no tuning has been seen to bring more.
constexpr double kHopeless = 4;

/// Where a variant has come to.
struct Climber {
  const OpenVariant* variant = nullptr;
  Candidate best;
  double seconds = 0;
  bool has_moved = false;  ///< in this round
};

/// Remembers what was tried.
class Attempts {
 public:
  Attempts(const Try& attempt, const MayGoOn& may_go_on) : attempt_(attempt), may_go_on_(may_go_on) {}

  /// Null if no more may be tried.
  const Trial* operator()(const Candidate& candidate) {
    const auto known = places_.find(candidate);
    if (known != places_.end()) return &trials_[known->second];
    if (is_out_ || !may_go_on_()) {
      is_out_ = true;
      return nullptr;
    }
    places_.emplace(candidate, trials_.size());
    trials_.push_back(attempt_(candidate));
    return &trials_.back();
  }
  [[nodiscard]] bool is_out() const noexcept { return is_out_; }
  [[nodiscard]] std::vector<Trial> take() { return std::move(trials_); }

 private:
  const Try& attempt_;
  const MayGoOn& may_go_on_;
  std::map<Candidate, std::size_t> places_;
  std::vector<Trial> trials_;
  bool is_out_ = false;
};

void sort_by_speed(std::vector<Climber>& climbers) {
  std::stable_sort(climbers.begin(), climbers.end(),
                   [](const Climber& a, const Climber& b) { return a.seconds < b.seconds; });
}

/// Every variant as it is preferred. Those that are right, fastest first.
std::vector<Climber> first_look(const SearchSpace& space, Attempts& attempts) {
  std::vector<const OpenVariant*> order;
  for (const OpenVariant& variant : space.variants) order.push_back(&variant);
  std::stable_partition(order.begin(), order.end(),
                        [&](const OpenVariant* variant) { return variant->name == space.default_variant; });
  std::vector<Climber> climbers;
  for (const OpenVariant* const variant : order) {
    Candidate candidate = preferred_of(*variant);
    const Trial* const trial = attempts(candidate);
    if (trial == nullptr) break;
    if (trial->status == TrialStatus::right) {
      climbers.push_back({variant, std::move(candidate), trial->seconds});
    } else if (directions(*variant) > 0 && trial->status != TrialStatus::skipped) {
      climbers.push_back({variant, std::move(candidate), -1});  // another value may be right
    }
  }
  return climbers;
}

/// Moves to the fastest value in one direction.
void climb(Climber& climber, std::size_t direction, Attempts& attempts) {
  for (const Candidate& candidate : along(*climber.variant, climber.best, direction)) {
    const Trial* const trial = attempts(candidate);
    if (trial == nullptr) return;
    if (trial->status != TrialStatus::right || (climber.seconds >= 0 && trial->seconds >= climber.seconds)) continue;
    climber.best = candidate;
    climber.seconds = trial->seconds;
    climber.has_moved = true;
  }
}

/// Those whose preferred values are wrong look first for a value that is right.
void find_footing(std::vector<Climber>& climbers, Attempts& attempts) {
  for (Climber& climber : climbers) {
    for (std::size_t i = 0; climber.seconds < 0 && i < directions(*climber.variant); ++i) climb(climber, i, attempts);
  }
  std::erase_if(climbers, [](const Climber& climber) { return climber.seconds < 0; });
}

}  // namespace

SearchResult search(const SearchSpace& space, const Try& attempt, const MayGoOn& may_go_on) {
  Attempts attempts(attempt, may_go_on);
  std::vector<Climber> climbers = first_look(space, attempts);
  find_footing(climbers, attempts);
  sort_by_speed(climbers);
  if (!climbers.empty()) {
    const double least = climbers.front().seconds;
    std::erase_if(climbers, [&](const Climber& climber) { return climber.seconds > kHopeless * least; });
  }
  while (!climbers.empty() && !attempts.is_out()) {
    std::size_t most = 0;
    for (const Climber& climber : climbers) most = std::max(most, directions(*climber.variant));
    for (std::size_t direction = 0; direction < most; ++direction) {
      for (Climber& climber : climbers) {
        if (direction < directions(*climber.variant)) climb(climber, direction, attempts);
      }
    }
    sort_by_speed(climbers);
    climbers.resize((climbers.size() + 1) / 2);
    std::erase_if(climbers, [](const Climber& climber) { return !climber.has_moved; });
    for (Climber& climber : climbers) climber.has_moved = false;
  }
  const bool is_complete = !attempts.is_out();
  return {attempts.take(), is_complete};
}

std::vector<const Trial*> fastest(const SearchResult& result, std::size_t most) {
  std::vector<const Trial*> right;
  for (std::size_t i = 1; i < result.trials.size(); ++i) {
    if (result.trials[i].status == TrialStatus::right) right.push_back(&result.trials[i]);
  }
  std::stable_sort(right.begin(), right.end(), [](const Trial* a, const Trial* b) { return a->seconds < b->seconds; });
  right.resize(std::min(right.size(), most));
  return right;
}

}  // namespace tessera::tool
