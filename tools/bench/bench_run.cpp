// The benchmark of operators.
#include "tools/bench/bench_run.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/comparison.h"
#include "tools/bench/peak_shares.h"
#include "tools/bench/peers.h"
#include "tools/bench/schedule.h"
#include "tools/bench/summary.h"
#include "tools/command.h"
#include "tools/process/interrupt.h"
#include "tools/study/study.h"
#include "tools/study/thread_table.h"
#include "tools/study/transfers.h"
#include "tools/thread_devices.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

/// What the devices' peaks leave of a budget that they have spent: a budget of 0 would be none.
constexpr double kLeastBudget_s = 1e-3;

std::string case_name_of(const conformance::Case& problem) {
  return std::string(problem.name());
}

class BenchRun {
 public:
  BenchRun(const BenchRequest& request, std::ostream& text, Json& result)
      : request_(request), text_(text), result_(result), problems_(request.selection) {}

  int run() {
    devices_ = open_devices(request_.selection.devices, text_);
    if (!request_.thread_counts.empty()) open_with_threads(devices_, request_.thread_counts);
    std::vector<Job> jobs = problems_.jobs(request_.selection, devices_.list, {conformance::Purpose::benchmark});
    if (request_.most_flops) keep_small(jobs, *request_.most_flops);
    const std::vector<MissingPeer> missing = missing_peers(jobs);
    jobs = request_.everything ? best_and_peers(jobs) : case_by_case(std::move(jobs));
    std::vector<BenchRecord> records = measure(jobs);
    if (request_.old) measure_slower_again(records);
    Progress progress(records.size());
    settle_shares(records, peaks_, progress);

    result_["devices"] = devices_record(devices_.list, peaks_);
    for (const BenchRecord& record : records) result_["records"].push_back(to_json(record));
    result_["missing_peers"] = to_json(missing);
    tell(records);
    if (request_.transfers) measure_transfers(jobs);
    text_ << missing_peers_line(missing);
    if (request_.old) text_ << "\n" << changes_text(*request_.old, records);
    return devices_.all_opened && transfers_passed_ && !is_slower(records) ? exit_code(records) : kExitFailure;
  }

 private:
  std::vector<BenchRecord> measure(const std::vector<Job>& jobs) {
    Progress progress(jobs.size());
    const auto begin = std::chrono::steady_clock::now();
    RunPlan plan = request_.plan;
    try {
      find_device_peaks(devices_.list, request_.measure_peaks_again, progress, peaks_);
    } catch (const Interrupted&) {
      return {};
    }
    if (plan.budget_s > 0) {
      const double taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      plan.budget_s = std::max(plan.budget_s - taken_s, kLeastBudget_s);
    }
    return run_jobs(jobs, peaks_, plan, progress);
  }

  void tell(const std::vector<BenchRecord>& records) {
    if (request_.everything) {
      text_ << summary_table(records) << "\n";
    } else {
      text_ << bench_table(records);
      const std::string comparison = comparison_table(records);
      if (!comparison.empty()) text_ << "\n" << comparison;
    }
    if (request_.thread_counts.empty()) return;
    const std::vector<ThreadRow> rows = thread_rows(records);
    result_["threads"] = to_json(rows, case_name_of);
    print_table(text_, "speed-up over threads", thread_text(rows, case_name_of));
  }

  /// With the first variant of each case and device that can run: the default, if none was forced.
  void measure_transfers(const std::vector<Job>& jobs) {
    std::vector<const Job*> chosen;
    for (const Job& job : jobs) {
      if (!job.because.empty() || is_vendor(job.variant) || !job.problem->skip_reason(job.device->device).empty())
        continue;
      const bool is_known = std::any_of(chosen.begin(), chosen.end(), [&](const Job* other) {
        return other->device == job.device && other->problem == job.problem;
      });
      if (!is_known) chosen.push_back(&job);
    }
    MeasurementLimits limits = request_.plan.limits;
    limits.cold = false;
    if (limits.one_run_limit_s <= 0) limits.one_run_limit_s = limits.time_limit_s;
    TransferBench bench(limits);
    std::vector<TransferRecord> records;
    Progress progress(chosen.size());
    try {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        stop_if_interrupted();
        progress.show(i, fmt::format("copies of {} {} {}", chosen[i]->set->operator_name, chosen[i]->device->name,
                                     chosen[i]->problem->name()));
        for (TransferRecord& record : bench.run(*chosen[i])) records.push_back(std::move(record));
      }
    } catch (const Interrupted&) {
      // What is measured is kept.
    }
    progress.clear();
    result_["transfers"] = Json::array();
    for (const TransferRecord& record : records) {
      result_["transfers"].push_back(to_json(record, case_name_of));
      transfers_passed_ = transfers_passed_ && record.status != BenchStatus::failed;
    }
    print_table(text_, "to the device and back", transfers_text(records, case_name_of));
    print_table(text_, "where a device with copies beats a CPU",
                break_even_text(find_break_even(records), case_name_of));
  }

  [[nodiscard]] std::vector<Change> changes(const std::vector<BenchRecord>& records) const {
    return request_.old ? changes_from(*request_.old, records) : std::vector<Change>();
  }
  [[nodiscard]] bool is_slower(const std::vector<BenchRecord>& records) const {
    const std::vector<Change> all = changes(records);
    return std::any_of(all.begin(), all.end(), [](const Change& change) { return change.is_slower(); });
  }

  /// Another program on the machine makes a record slower as well: the fastest of three counts.
  void measure_slower_again(std::vector<BenchRecord>& records) {
    for (int round = 0; round < 2 && !is_interrupted(); ++round) {
      std::vector<std::size_t> places;
      std::vector<Job> jobs;
      for (const Change& change : changes(records)) {
        if (!change.is_slower()) continue;
        places.push_back(static_cast<std::size_t>(change.record - records.data()));
        jobs.push_back(change.record->job);
      }
      if (jobs.empty()) return;
      Progress progress(jobs.size());
      std::vector<BenchRecord> again = run_jobs(jobs, peaks_, request_.plan, progress);
      for (std::size_t i = 0; i < again.size(); ++i) {
        BenchRecord& record = records[places[i]];
        const bool failed = again[i].status == BenchStatus::failed;
        if (failed || (again[i].measurement && speed_of(again[i]) > speed_of(record))) record = std::move(again[i]);
      }
    }
  }

  static int exit_code(const std::vector<BenchRecord>& records) {
    const auto count = [&](BenchStatus status) {
      return std::count_if(records.begin(), records.end(),
                           [&](const BenchRecord& record) { return record.status == status; });
    };
    return count(BenchStatus::failed) == 0 && count(BenchStatus::verified) > 0 ? kExitSuccess : kExitFailure;
  }

  const BenchRequest& request_;
  std::ostream& text_;
  Json& result_;
  const SelectedProblems problems_;
  OpenDevices devices_;
  DevicePeaks peaks_;
  bool transfers_passed_ = true;
};

}  // namespace

int run_bench(const BenchRequest& request, std::ostream& text, Json& result) {
  return BenchRun(request, text, result).run();
}

}  // namespace tessera::tool
