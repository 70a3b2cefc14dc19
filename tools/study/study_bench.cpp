// Measuring for studies.
#include "tools/study/study_bench.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/rounds.h"
#include "tools/process/interrupt.h"
#include "tools/study/variant_scores.h"
#include "tools/thread_devices.h"

namespace tessera::tool {

namespace {

using conformance::Purpose;

std::vector<Job> plan_study(const StudyRequest& request, const Study& study, const std::vector<OpenDevice>& devices) {
  Selection selection = request.selection;
  selection.operator_name = study.operator_name;
  selection.every_tuning = true;
  return plan_jobs(selection, conformance::problem_sets(), devices,
                   {request.quick ? Purpose::quick_study : Purpose::study});
}

bool same_group(const Job& left, const Job& right) {
  return left.device == right.device && left.problem == right.problem;
}

/// Within a case the library's own variants go first, then the vendors', then other tuning values: while the next
/// case's operands are made, the vendors' threads come to rest.
void sort_groups(std::vector<Job>& jobs) {
  const auto rank = [](const Job& job) { return job.is_extra ? 2 : is_vendor(job.variant) ? 1 : 0; };
  for (auto first = jobs.begin(); first != jobs.end();) {
    const auto last = std::find_if(first, jobs.end(), [&](const Job& job) { return !same_group(*first, job); });
    std::stable_sort(first, last, [&](const Job& left, const Job& right) { return rank(left) < rank(right); });
    first = last;
  }
}

void add_note(BenchRecord& record, const std::string& note) {
  if (record.status == BenchStatus::verified) record.reason += (record.reason.empty() ? "" : "; ") + note;
}

}  // namespace

Job moved_to(const OpenDevice& device, Job job) {
  job.device = &device;
  for (const VariantReport& report : job.problem->explain(device.device)) {
    if (report.variant != job.variant) continue;
    job.is_default = report.is_default;
    job.because = report.can_run ? "" : report.because;
  }
  return job;
}

bool offers(const Job& job, const Tuning& tuning) {
  for (const VariantReport& report : job.problem->explain(job.device->device)) {
    if (report.variant != job.variant) continue;
    return std::all_of(tuning.begin(), tuning.end(), [&](const auto& wanted) {
      return std::any_of(report.tunables.begin(), report.tunables.end(), [&](const Tunable& tunable) {
        return tunable.name == wanted.first &&
               std::find(tunable.values.begin(), tunable.values.end(), wanted.second) != tunable.values.end();
      });
    });
  }
  return false;
}

StudyBench::StudyBench(const Study& study, const StudyRequest& request, const std::vector<OpenDevice>& devices,
                       const DevicePeaks& peaks)
    : study_(study),
      request_(request),
      devices_(devices),
      peaks_(peaks),
      jobs_(plan_study(request, study, devices)),
      benchmark_(request.limits) {}

std::vector<Job> StudyBench::jobs_of(std::string_view part) const {
  std::vector<Job> jobs;
  std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(jobs),
               [&](const Job& job) { return job.problem->part() == part; });
  return jobs;
}

bool StudyBench::wants(std::string_view part) const {
  const auto names = [&](const auto& parts) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  return request_.parts.empty() ? names(study_.parts) : names(request_.parts);
}

std::vector<BenchRecord> StudyBench::measure_variants(std::string_view part,
                                                      const std::vector<std::string_view>& tunables) {
  return measure_listed(part, jobs_of(part), tunables);
}

std::vector<BenchRecord> StudyBench::measure_variant(std::string_view part, std::string_view variant,
                                                     const std::vector<std::string_view>& tunables) {
  std::vector<Job> jobs = jobs_of(part);
  std::erase_if(jobs, [&](const Job& job) { return job.variant != variant || !job.because.empty(); });
  return measure_listed(part, std::move(jobs), tunables);
}

std::vector<BenchRecord> StudyBench::measure_listed(std::string_view part, std::vector<Job> jobs,
                                                    const std::vector<std::string_view>& tunables) {
  const auto is_wanted = [&](const Job& job) {
    return !job.is_extra || std::any_of(tunables.begin(), tunables.end(), [&](std::string_view name) {
      return job.tuning.count(std::string(name)) != 0;
    });
  };
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(), [&](const Job& job) { return !is_wanted(job); }), jobs.end());
  sort_groups(jobs);

  std::vector<BenchRecord> records;
  Progress progress(jobs.size());
  try {
    std::size_t group = 0;  // the first record of the device and case at hand
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      stop_if_interrupted();
      const Job& job = jobs[i];
      progress.show(i, fmt::format("{} {} {} {}", part, job.device->name, job.variant, study_.label(*job.problem)));
      records.push_back(measure(job, job.problem->tries_every_tuning()));
      if (i + 1 < jobs.size() && same_group(job, jobs[i + 1])) continue;
      measure_in_turn(records, group);
      group = records.size();
    }
  } catch (const Interrupted&) {
    // The records so far are returned; the caller learns of the interrupt by itself.
  }
  benchmark_.forget_operands();
  return records;
}

BenchRecord StudyBench::measure(const Job& job, bool is_reference) {
  MeasurementLimits limits = request_.limits;
  if (is_reference) limits.one_run_limit_s *= kReferenceFactor;
  const auto peaks = peaks_.find(job.device);
  return benchmark_.run(job, peaks == peaks_.end() ? Peaks() : peaks->second, limits);
}

std::vector<Job> StudyBench::plan_threads(std::string_view part, WantedCase wanted,
                                          const std::vector<std::string_view>& serial) {
  std::vector<Job> jobs;
  for (const OpenDevice& device : devices_) {
    for (std::uint32_t threads = 1; threads < device.info.compute_units; threads *= 2) {
      std::optional<OpenDevice> narrow = open_with_threads(device, threads);
      if (!narrow) break;
      other_devices_.push_back(*std::move(narrow));
      for (const Job& job : jobs_of(part)) {
        const bool is_serial = std::find(serial.begin(), serial.end(), job.variant) != serial.end();
        if (job.device != &device || job.is_extra || is_serial || !wanted(*job.problem)) continue;
        jobs.push_back(moved_to(other_devices_.back(), job));
      }
    }
  }
  return jobs;
}

std::vector<BenchRecord> StudyBench::measure_threads(std::string_view part, WantedCase wanted,
                                                     const std::vector<std::string_view>& serial) {
  return measure_all(plan_threads(part, wanted, serial));
}

std::vector<BenchRecord> StudyBench::measure_tunings(std::string_view part, std::string_view variant,
                                                     const std::vector<Tuning>& tunings) {
  std::vector<Job> jobs;
  for (const Job& job : jobs_of(part)) {
    if (job.is_extra || job.variant != variant || !job.problem->tries_every_tuning() || !job.because.empty()) continue;
    for (const Tuning& tuning : tunings) {
      if (!offers(job, tuning)) continue;
      Job tuned = job;
      tuned.tuning = tuning;
      tuned.is_default = false;
      tuned.is_extra = true;
      jobs.push_back(std::move(tuned));
    }
  }
  return measure_all(jobs);
}

std::vector<BenchRecord> StudyBench::measure_all(const std::vector<Job>& jobs) {
  std::vector<BenchRecord> records;
  Progress progress(jobs.size());
  try {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      stop_if_interrupted();
      const Job& job = jobs[i];
      progress.show(i, fmt::format("{} {} {} {}", job.problem->part(), job.device->name, job.variant,
                                   study_.label(*job.problem)));
      records.push_back(measure(job, true));
    }
  } catch (const Interrupted&) {
    // The records so far are returned; the caller learns of the interrupt by itself.
  }
  benchmark_.forget_operands();
  return records;
}

void StudyBench::measure_in_turn(std::vector<BenchRecord>& records, std::size_t first) {
  std::set<const BenchRecord*> seen;
  for (;;) {
    const auto [chosen, best] = default_and_best(records.begin() + static_cast<std::ptrdiff_t>(first), records.end());
    if (chosen == records.end() || speed_of(*chosen) >= kLeastOfBest * speed_of(*best)) return;
    if (!seen.insert(&*best).second) return;
    // A variant that was run only once is slow, and three more measurements of both would take long.
    if (chosen->measurement->device_s.count == 1 || best->measurement->device_s.count == 1) return;
    std::vector<BenchRecord> of_chosen;
    std::vector<BenchRecord> of_best;
    for (int round = 0; round < 3; ++round) {
      stop_if_interrupted();
      of_chosen.push_back(measure(chosen->job, chosen->job.problem->tries_every_tuning()));
      of_best.push_back(measure(best->job, best->job.problem->tries_every_tuning()));
    }
    *chosen = middle_of(std::move(of_chosen));
    *best = middle_of(std::move(of_best));
    add_note(*chosen, fmt::format("the middle one of three rounds in turn with '{}'", best->job.variant));
    add_note(*best, fmt::format("the middle one of three rounds in turn with '{}'", chosen->job.variant));
  }
}

std::vector<TransferRecord> StudyBench::measure_transfers(std::string_view part) {
  // The first that can run of each device and case: the default, or the first one that --variant allows.
  std::vector<Job> jobs;
  for (const Job& job : jobs_of(part)) {
    if (job.is_extra || !job.because.empty()) continue;
    if (jobs.empty() || !same_group(jobs.back(), job)) jobs.push_back(job);
  }
  std::vector<TransferRecord> records;
  Progress progress(jobs.size());
  TransferBench bench(request_.limits);
  try {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Job& job = jobs[i];
      progress.show(i, fmt::format("{} {} {}", part, job.device->name, study_.label(*job.problem)));
      for (TransferRecord& record : bench.run(job)) records.push_back(std::move(record));
    }
  } catch (const Interrupted&) {
    // The records so far are returned; the caller learns of the interrupt by itself.
  }
  return records;
}

}  // namespace tessera::tool
