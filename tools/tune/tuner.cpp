// A part of the budget is held back for the confirmation, without which nothing is kept.
#include "tools/tune/tuner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/process/interrupt.h"
#include "tools/tune/trials.h"

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// So many of the fastest meet the default: the fastest trial may have been lucky.
constexpr std::size_t kContenders = 3;
constexpr std::size_t kReservedRounds = 9;
/// Of the budget, at most, for the confirmation.
constexpr double kMostReserve = 0.5;
/// After Ctrl-C nobody wants to wait.
constexpr double kHurry_s = 2;

SearchSpace space_of(const std::vector<VariantReport>& reports) {
  SearchSpace space;
  for (const VariantReport& report : reports) {
    if (report.can_run) space.variants.push_back({report.variant, report.tunables});
    if (report.is_shipped_default) space.default_variant = report.variant;
  }
  return space;
}

/// The search of one problem, with its clock.
class Tuner {
 public:
  Tuner(const Job& place, const TuneLimits& limits, const TellProgress& tell)
      : place_(place), limits_(limits), tell_(tell) {}

  TuneOutcome run() {
    outcome_.place = place_;
    outcome_.shape_class = place_.problem->shape_class();
    const SearchSpace space = space_of(place_.problem->explain(place_.device->device));
    outcome_.default_variant = space.default_variant;
    if (space.default_variant.empty()) {
      outcome_.reason = "no variant can run it here";
      return std::move(outcome_);
    }
    look_for_candidates(space);
    decide();
    if (limits_.keeps) keep();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  [[nodiscard]] double left_s() const { return limits_.budget_s - elapsed_s(); }

  /// What the confirmation will take, judged by the default's time.
  [[nodiscard]] double reserve_s() const {
    const Contender alike{{}, std::max(default_trial_s_, 0.0)};
    return std::min(duel_seconds({alike, alike}, kReservedRounds), kMostReserve * limits_.budget_s);
  }

  void look_for_candidates(const SearchSpace& space) {
    Trials trials(place_);
    const auto attempt = [&](const Candidate& candidate) {
      tell_(elapsed_s(), to_string(candidate));
      Trial trial;
      try {
        trial = trials.run(candidate, std::max(left_s() - reserve_s(), 0.0));
      } catch (const Interrupted&) {
        trial.candidate = candidate;
        trial.status = TrialStatus::skipped;
        trial.reason = "the search was interrupted";
      }
      if (is_first_) default_trial_s_ = trial.seconds;
      is_first_ = false;
      return trial;
    };
    // The default is always tried: without it there is nothing to compare with.
    const auto may_go_on = [&] { return !is_interrupted() && (is_first_ || left_s() > reserve_s()); };
    outcome_.search = search(space, attempt, may_go_on);
    outcome_.notes = trials.notes();
  }

  void decide() {
    const std::vector<Trial>& trials = outcome_.search.trials;
    const bool is_default_right = !trials.empty() && trials.front().status == TrialStatus::right;
    std::vector<Contender> contenders;
    if (is_default_right) contenders.push_back({trials.front().candidate, trials.front().seconds});
    for (const Trial* const trial : fastest(outcome_.search, kContenders)) {
      if (is_default_right && trial->seconds >= trials.front().seconds) break;
      contenders.push_back({trial->candidate, trial->seconds});
    }
    if (contenders.empty()) return nothing_right();
    const bool is_alone = contenders.size() == 1;
    if (is_alone) {
      // Nothing to compare: a default that no trial beat, or the only one that is right.
      outcome_.best = contenders.front().candidate;
      outcome_.best_s = contenders.front().expected_s;
      outcome_.default_s = is_default_right ? outcome_.best_s : 0;
      outcome_.status = is_default_right ? TuneStatus::not_faster : TuneStatus::faster;
      if (is_default_right && !outcome_.search.is_complete && trials.size() == 1) {
        outcome_.status = TuneStatus::undecided;
        outcome_.reason = fmt::format("nothing but the default was tried in {}", format_seconds(limits_.budget_s));
      }
      return;
    }
    confirm(std::move(contenders), is_default_right);
  }

  void nothing_right() {
    const std::vector<Trial>& trials = outcome_.search.trials;
    outcome_.reason = trials.empty() ? "it was interrupted before anything was tried"
                                     : fmt::format("{} {}", to_string(trials.front().candidate), trials.front().reason);
    const bool is_skipped = std::all_of(trials.begin(), trials.end(),
                                        [](const Trial& trial) { return trial.status == TrialStatus::skipped; });
    outcome_.status = is_skipped ? TuneStatus::undecided : TuneStatus::failed;
  }

  void confirm(std::vector<Contender> contenders, bool is_default_right) {
    const double time_s = is_interrupted() ? kHurry_s : std::max(left_s(), 0.0);
    // The slower of the contenders are left out until the fewest rounds fit.
    while (contenders.size() > 2 && duel_seconds(contenders, kFewestRounds) > time_s) contenders.pop_back();
    if (duel_seconds(contenders, kFewestRounds) > std::max(time_s, kHurry_s)) {
      outcome_.status = TuneStatus::undecided;
      outcome_.reason =
          fmt::format("{} seems faster, but {} runs of it and of the default by turns take longer than {}",
                      to_string(contenders.back().candidate), kFewestRounds, format_seconds(time_s));
      return;
    }
    tell_(elapsed_s(), "the fastest by turns with the default");
    try {
      duel(place_, contenders, time_s);
    } catch (const Error& error) {
      outcome_.status = TuneStatus::undecided;
      outcome_.reason = fmt::format("the fastest could not be measured by turns: {}", error.sentence());
      return;
    }
    choose_winner(contenders, is_default_right);
  }

  void choose_winner(const std::vector<Contender>& contenders, bool is_default_right) {
    const Contender& first = contenders.front();
    outcome_.default_s = is_default_right ? summarise(first.seconds).median : 0;
    outcome_.best = first.candidate;
    outcome_.best_s = summarise(first.seconds).median;
    outcome_.status = is_default_right ? TuneStatus::not_faster : TuneStatus::faster;
    double best_ratio = 1;
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      const Statistics ratio = ratios(first.seconds, contenders[i].seconds);
      if (!is_faster(ratio) || ratio.median >= best_ratio) continue;
      best_ratio = ratio.median;
      outcome_.best = contenders[i].candidate;
      outcome_.best_s = summarise(contenders[i].seconds).median;
      outcome_.ratio = is_default_right ? ratio : Statistics();
      outcome_.status = TuneStatus::faster;
    }
  }

  void keep() {
    TuningResult result{outcome_.default_variant, outcome_.default_s, words_of_problem(), {}};
    if (outcome_.status == TuneStatus::faster || outcome_.status == TuneStatus::not_faster) {
      const auto verdict = outcome_.status == TuneStatus::faster ? TuningVerdict::faster : TuningVerdict::not_faster;
      result.records.push_back({verdict, outcome_.best->variant, outcome_.best->tuning, outcome_.best_s, ""});
    }
    for (const Trial* const trial : outcome_.rejected()) {
      const auto verdict = trial->status == TrialStatus::wrong ? TuningVerdict::wrong : TuningVerdict::failed;
      result.records.push_back({verdict, trial->candidate.variant, trial->candidate.tuning, 0, trial->reason});
    }
    if (result.records.empty()) return;  // what an earlier search found stays
    place_.problem->remember_tuning(place_.device->device, result);
    outcome_.is_kept = true;
  }

  [[nodiscard]] std::string words_of_problem() const {
    return place_.typed.empty() ? std::string(place_.problem->name()) : place_.typed;
  }

  const Job& place_;
  const TuneLimits& limits_;
  const TellProgress& tell_;
  const Clock::time_point begin_ = Clock::now();
  bool is_first_ = true;
  double default_trial_s_ = 0;
  TuneOutcome outcome_;
};

}  // namespace

std::string_view to_string(TuneStatus status) noexcept {
  switch (status) {
    case TuneStatus::faster: return "faster";
    case TuneStatus::not_faster: return "not_faster";
    case TuneStatus::undecided: return "undecided";
    case TuneStatus::failed: return "failed";
  }
  return "";
}

std::vector<const Trial*> TuneOutcome::rejected() const {
  std::vector<const Trial*> rejected;
  for (const Trial& trial : search.trials) {
    if (trial.status == TrialStatus::wrong || trial.status == TrialStatus::failed) rejected.push_back(&trial);
  }
  return rejected;
}

TuneOutcome tune(const Job& place, const TuneLimits& limits, const TellProgress& tell) {
  return Tuner(place, limits, tell).run();
}

}  // namespace tessera::tool
