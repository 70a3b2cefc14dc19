// The odd sizes come first: a candidate that is wrong there needs no time. At the problem itself the benchmark checks,
// measures, and looks at the bits again.
#include "tools/tune/trials.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/process/interrupt.h"
#include "tools/verify/verification.h"

namespace tessera::tool {

namespace {

/// Short measurements: candidates that are nearly as fast as the fastest are told apart later, by turns.
constexpr MeasurementLimits kTrialLimits{
    .warm_up_s = 0.02, .first_warm_up_s = 0.3, .min_time_s = 0.05, .time_limit_s = 0.5, .repetitions = 5};

std::string words_of(const Error& error) {
  return fmt::format("{}: {}", to_string(error.code()), error.sentence());
}

void settle_as(Trial& trial, TrialStatus status, const conformance::Case& problem, const std::string& reason) {
  trial.status = status;
  trial.reason = fmt::format("at {}: {}", problem.name(), reason);
}

}  // namespace

Trials::Trials(const Job& place) : place_(place), benchmark_(kTrialLimits) {
  const Device& device = place.device->device;
  for (auto& problem : place.problem->odd_neighbours()) {
    const std::string name(problem->name());
    try {
      if (const std::string why = problem->skip_reason(device); !why.empty()) {
        notes_.push_back(fmt::format("nothing is checked at {}: {}", name, why));
        continue;
      }
      auto reports = problem->explain(device);
      neighbours_.push_back({std::move(problem), std::move(reports), nullptr});
    } catch (const Error& error) {
      notes_.push_back(fmt::format("nothing is checked at {}: {}", name, error.sentence()));
    }
  }
}

bool Trials::allows_beside(const Neighbour& neighbour, const Candidate& candidate) const {
  return std::any_of(neighbour.reports.begin(), neighbour.reports.end(), [&](const VariantReport& report) {
    return report.variant == candidate.variant && allows(report, candidate.tuning);
  });
}

bool Trials::check_beside(Neighbour& neighbour, Trial& trial) {
  // What is not offered there is not used there either.
  if (!allows_beside(neighbour, trial.candidate)) return true;
  const Device& device = place_.device->device;
  const KernelOptions options{.variant = trial.candidate.variant, .tuning = trial.candidate.tuning};
  try {
    if (neighbour.run == nullptr) {
      neighbour.run = neighbour.problem->prepare(device, options);
    } else {
      neighbour.run->change_kernel(device, options);
    }
    Queue queue(device, {.label = fmt::format("tune {}", neighbour.problem->name())});
    const Verification verification = verify_run(*neighbour.run, queue);
    if (verification.status == VerifyStatus::passed) {
      trial.at.emplace_back(neighbour.problem->name());
      return true;
    }
    settle_as(trial, TrialStatus::wrong, *neighbour.problem, verification.reason);
  } catch (const Error& error) {
    const bool is_memory = error.code() == ErrorCode::out_of_memory;
    settle_as(trial, is_memory ? TrialStatus::skipped : TrialStatus::failed, *neighbour.problem, words_of(error));
  }
  neighbour.run.reset();  // whatever was wrong may have spoilt the operands
  return false;
}

Trial Trials::run(const Candidate& candidate, double most_s) {
  Trial trial;
  trial.candidate = candidate;
  for (Neighbour& neighbour : neighbours_) {
    stop_if_interrupted();
    if (!check_beside(neighbour, trial)) return trial;
  }
  Job job = place_;
  job.variant = candidate.variant;
  job.tuning = candidate.tuning;
  MeasurementLimits limits = kTrialLimits;
  limits.one_run_limit_s = std::max(most_s, limits.time_limit_s);
  const BenchRecord record = benchmark_.run(job, Peaks{}, limits);
  switch (record.status) {
    case BenchStatus::verified:
      trial.status = TrialStatus::right;
      trial.seconds = record.measurement->device_s.median;
      trial.spread = record.measurement->device_s.spread;
      trial.at.emplace_back(place_.problem->name());
      break;
    case BenchStatus::failed:
      // Without a result to compare, nothing is known of it but that it throws.
      settle_as(trial, record.outcome ? TrialStatus::wrong : TrialStatus::failed, *place_.problem, record.reason);
      break;
    case BenchStatus::unsupported:
    case BenchStatus::skipped: settle_as(trial, TrialStatus::skipped, *place_.problem, record.reason); break;
  }
  return trial;
}

void Trials::forget_operands() {
  for (Neighbour& neighbour : neighbours_) neighbour.run.reset();
  benchmark_.forget_operands();
}

}  // namespace tessera::tool
