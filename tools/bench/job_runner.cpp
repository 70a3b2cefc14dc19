// From jobs to records.
#include "tools/bench/job_runner.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/rounds.h"
#include "tools/bench/schedule.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

class Runner {
 public:
  Runner(const std::vector<Job>& jobs, const DevicePeaks& peaks, const RunPlan& plan, Progress& progress)
      : jobs_(jobs),
        peaks_(peaks),
        plan_(plan),
        progress_(progress),
        schedule_(jobs, plan.limits, plan.rounds, plan.budget_s),
        benchmark_(plan.limits) {}

  std::vector<BenchRecord> run() {
    // Rounds are measured in turn over all devices of a case.
    for (std::size_t group = 0; group < schedule_.groups().size() && !is_interrupted();) {
      std::size_t last = group + 1;
      if (plan_.rounds > 1) {
        while (last < schedule_.groups().size() && problem_of(last) == problem_of(group)) ++last;
      }
      run_groups(group, last);
      group = last;
    }
    return std::move(records_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double elapsed_s(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  [[nodiscard]] const conformance::Case* problem_of(std::size_t group) const {
    return jobs_[schedule_.groups()[group].first].problem;
  }

  void run_groups(std::size_t first, std::size_t last) {
    std::vector<std::vector<BenchRecord>> rounds(jobs_.size());
    std::vector<double> seconds(last - first);
    std::vector<std::string> refusals;
    for (std::size_t group = first; group < last; ++group)
      refusals.push_back(schedule_.refusal(group, elapsed_s(start_)));
    try {
      for (std::size_t round = 0; round < plan_.rounds; ++round) {
        for (std::size_t group = first; group < last; ++group) {
          const auto begin = Clock::now();
          if (refusals[group - first].empty()) run_round(group, rounds);
          seconds[group - first] += elapsed_s(begin);
        }
      }
    } catch (const Interrupted&) {
      // What is complete is kept; the caller learns of the interrupt by itself.
    }
    for (std::size_t group = first; group < last; ++group) {
      const bool is_refused = !refusals[group - first].empty();
      if (!is_refused) schedule_.note(group, seconds[group - first]);
      for (std::size_t job = schedule_.groups()[group].first; job < schedule_.groups()[group].last; ++job) {
        if (is_refused) rounds[job].push_back(left_out(jobs_[job], refusals[group - first]));
        if (!rounds[job].empty()) records_.push_back(middle_of(std::move(rounds[job])));
      }
    }
  }

  void run_round(std::size_t group, std::vector<std::vector<BenchRecord>>& rounds) {
    const auto [first, last] = schedule_.groups()[group];
    for (std::size_t i = first; i < last; ++i) {
      stop_if_interrupted();
      const Job& job = jobs_[i];
      // What failed or cannot run is not tried again.
      if (!rounds[i].empty() && rounds[i].back().status != BenchStatus::verified) continue;
      progress_.tell_time_left(schedule_.left_s(group, elapsed_s(start_)));
      progress_.show(
          i, fmt::format("{} {} {} {}", job.set->operator_name, job.device->name, job.variant, job.problem->name()));
      rounds[i].push_back(benchmark_.run(job, peaks_.at(job.device)));
    }
  }

  static BenchRecord left_out(const Job& job, const std::string& reason) {
    BenchRecord record;
    record.job = job;
    record.tuning = job.tuning;
    record.status = BenchStatus::skipped;
    record.is_left_out = true;
    record.reason = reason;
    return record;
  }

  const std::vector<Job>& jobs_;
  const DevicePeaks& peaks_;
  const RunPlan& plan_;
  Progress& progress_;
  Schedule schedule_;
  Benchmark benchmark_;
  std::vector<BenchRecord> records_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::vector<BenchRecord> run_jobs(const std::vector<Job>& jobs, const DevicePeaks& peaks, const RunPlan& plan,
                                  Progress& progress) {
  return Runner(jobs, peaks, plan, progress).run();
}

}  // namespace tessera::tool
