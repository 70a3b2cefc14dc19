// Orders jobs and tells time.
#include "tools/bench/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/bench/bench_record.h"
#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// An estimate may be wrong by so much before a group is left out for it.
constexpr double kDoubtOfEstimates = 4;

bool same_group(const Job& left, const Job& right) {
  return left.device == right.device && left.problem == right.problem;
}

double work_of_case(const conformance::Case& problem) {
  const conformance::Work work = problem.work();
  return work.flops > 0 ? work.flops : work.bytes;
}

/// Of the jobs of one case and device: the default, the peers, and one more variant of the library's own, if that is
/// not the last in the list, which is the plain one.
void take_best(std::vector<Job>::const_iterator first, std::vector<Job>::const_iterator last,
               std::vector<Job>& chosen) {
  const Job* ours = nullptr;
  const Job* next = nullptr;
  const Job* plain = nullptr;
  std::vector<const Job*> peers;
  for (auto job = first; job != last; ++job) {
    if (job->is_extra) continue;
    const bool is_peer = is_vendor(job->variant);
    if (!is_peer) plain = &*job;
    if (!job->because.empty()) continue;
    if (is_peer) {
      peers.push_back(&*job);
    } else if (job->is_default) {
      ours = &*job;
    } else if (next == nullptr) {
      next = &*job;
    }
  }
  if (ours != nullptr) chosen.push_back(*ours);
  for (const Job* peer : peers) chosen.push_back(*peer);
  if (next != nullptr && (next != plain || ours == nullptr)) chosen.push_back(*next);
}

}  // namespace

std::vector<Job> case_by_case(std::vector<Job> jobs) {
  std::map<const conformance::Case*, std::size_t> places;
  for (const Job& job : jobs) places.emplace(job.problem, places.size());
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return places.at(a.problem) < places.at(b.problem); });
  return jobs;
}

std::vector<Job> best_and_peers(const std::vector<Job>& jobs) {
  // Each operator's cases, the smallest first, are counted; then the counts are the order.
  std::map<const conformance::ProblemSet*, std::vector<const conformance::Case*>> cases;
  std::vector<const conformance::ProblemSet*> sets;
  for (const Job& job : jobs) {
    if (cases.find(job.set) == cases.end()) sets.push_back(job.set);
    std::vector<const conformance::Case*>& list = cases[job.set];
    if (std::find(list.begin(), list.end(), job.problem) == list.end()) list.push_back(job.problem);
  }
  std::map<const conformance::Case*, std::pair<std::size_t, std::size_t>> order;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    std::vector<const conformance::Case*>& list = cases[sets[set]];
    std::stable_sort(list.begin(), list.end(),
                     [](const auto* a, const auto* b) { return work_of_case(*a) < work_of_case(*b); });
    for (std::size_t round = 0; round < list.size(); ++round) order[list[round]] = {round, set};
  }
  std::vector<Job> sorted = case_by_case(jobs);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Job& a, const Job& b) { return order.at(a.problem) < order.at(b.problem); });
  std::vector<Job> chosen;
  for (auto first = sorted.cbegin(); first != sorted.cend();) {
    const auto last = std::find_if(first, sorted.cend(), [&](const Job& job) { return !same_group(*first, job); });
    take_best(first, last, chosen);
    first = last;
  }
  return chosen;
}

Schedule::Schedule(const std::vector<Job>& jobs, const MeasurementLimits& limits, std::size_t rounds, double budget_s)
    : jobs_(jobs), each_s_((limits.warm_up_s + limits.min_time_s) * static_cast<double>(rounds)), budget_s_(budget_s) {
  for (std::size_t first = 0; first < jobs.size();) {
    std::size_t last = first + 1;
    while (last < jobs.size() && same_group(jobs[first], jobs[last])) ++last;
    groups_.push_back({first, last});
    first = last;
  }
}

std::string Schedule::key_of(std::size_t group) const {
  const Job& job = jobs_[groups_[group].first];
  return job.set->operator_name + "/" + job.device->name;
}

double Schedule::work_of(std::size_t group) const {
  return work_of_case(*jobs_[groups_[group].first].problem);
}

double Schedule::asked_for_s(std::size_t group) const {
  const auto first = jobs_.begin() + static_cast<std::ptrdiff_t>(groups_[group].first);
  const auto last = jobs_.begin() + static_cast<std::ptrdiff_t>(groups_[group].last);
  const auto runnable = std::count_if(first, last, [](const Job& job) { return job.because.empty(); });
  return each_s_ * static_cast<double>(runnable);
}

double Schedule::likely_s(std::size_t group) const {
  const auto known = beyond_.find(key_of(group));
  if (known == beyond_.end()) return asked_for_s(group);
  const double ratio = known->second.work > 0 ? work_of(group) / known->second.work : 1;
  return asked_for_s(group) + known->second.seconds * std::max(1.0, ratio);
}

std::string Schedule::refusal(std::size_t group, double elapsed_s) const {
  if (budget_s_ <= 0) return {};
  if (elapsed_s >= budget_s_) return fmt::format("the budget of {} is spent", format_seconds(budget_s_));
  if (elapsed_s + likely_s(group) / kDoubtOfEstimates <= budget_s_) return {};
  return fmt::format("it would take about {}, and of the budget of {} there is {} left",
                     format_seconds(likely_s(group)), format_seconds(budget_s_), format_seconds(budget_s_ - elapsed_s));
}

double Schedule::left_s(std::size_t group, double elapsed_s) const {
  if (beyond_.empty()) return 0;
  double left = 0;
  for (; group < groups_.size(); ++group) left += likely_s(group);
  return budget_s_ > 0 ? std::min(left, std::max(0.0, budget_s_ - elapsed_s)) : left;
}

void Schedule::note(std::size_t group, double seconds) {
  beyond_[key_of(group)] = {std::max(0.0, seconds - asked_for_s(group)), work_of(group)};
}

}  // namespace tessera::tool
