// In which order a run's jobs come, how long they will still take, and which of them a time budget has no room for.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"
#include "tools/selection.h"

namespace tessera::tool {

/// All devices' jobs of one case after each other: what is compared should be measured within seconds, because clocks
/// and other programs change over minutes.
[[nodiscard]] std::vector<Job> case_by_case(std::vector<Job> jobs);

/// What a comparison of everything measures of the standard set: of each case and device the variant that the library
/// takes, its own next best one unless that is the plain one, and every other library that can do it. In rounds:
/// every operator's smallest case, then every operator's second, and so on, so that a run which ends early has
/// measured something of each.
[[nodiscard]] std::vector<Job> best_and_peers(const std::vector<Job>& jobs);

/// Jobs of one case on one device, which are begun together or not at all.
struct JobGroup {
  std::size_t first = 0;
  std::size_t last = 0;  ///< behind the last
};

class Schedule {
 public:
  /// `budget_s` of the whole; 0: no budget. `rounds`: how often each job is measured.
  Schedule(const std::vector<Job>& jobs, const MeasurementLimits& limits, std::size_t rounds, double budget_s);

  [[nodiscard]] const std::vector<JobGroup>& groups() const noexcept { return groups_; }
  /// Why a group is not begun after so many seconds: the budget is spent, or what is left cannot be enough; "" if it
  /// is.
  [[nodiscard]] std::string refusal(std::size_t group, double elapsed_s) const;
  /// How long the groups from this one on will take, by those that were measured; the budget's rest at most. 0 if
  /// nothing is known yet.
  [[nodiscard]] double left_s(std::size_t group, double elapsed_s) const;
  void note(std::size_t group, double seconds);

 private:
  /// What a group takes beyond the times that the limits ask for, by work: verification, mostly.
  struct Beyond {
    double seconds = 0;
    double work = 0;
  };
  [[nodiscard]] std::string key_of(std::size_t group) const;
  [[nodiscard]] double work_of(std::size_t group) const;
  [[nodiscard]] double asked_for_s(std::size_t group) const;
  [[nodiscard]] double likely_s(std::size_t group) const;

  const std::vector<Job>& jobs_;
  std::vector<JobGroup> groups_;
  double each_s_;
  double budget_s_;
  std::map<std::string, Beyond> beyond_;  ///< of the last group of each operator and device
};

}  // namespace tessera::tool
