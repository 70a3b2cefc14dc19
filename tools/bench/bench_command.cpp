// `tessera bench`: how fast every variant is on every device of this machine, each verified before it is measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/bench/benchmark.h"
#include "tools/bench/comparison.h"
#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/peaks/device_peaks.h"
#include "tools/process/interrupt.h"
#include "tools/study/study.h"
#include "tools/study/thread_table.h"
#include "tools/thread_devices.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

constexpr const char* kFooter =
    "Device time is the median by events on the queue; spread the interquartile range over the median; wall time\n"
    "from the call until the host knows. GFLOP/s and GB/s are the least work of the problem by the device time. Of\n"
    "peak is the larger of GFLOP/s over the device's measured multiply-add peak and GB/s over its copy peak.\n"
    "Exit code 0 only if nothing failed and something was measured.\n\n"
    "--compare sets this run beside an older result file. A record is slower if it takes longer by more than both\n"
    "runs spread together, and by 5 % at least; what seems slower is measured twice again, and its fastest run "
    "counts.\n"
    "Exit code 1 if one is.\n\n"
    "--study measures what docs/studies tells of: many sizes, tiles, threads, and the way to the device and back,\n"
    "each record for a fraction of a second (warm-up 0.02, minimum 0.02, limit 0.15 unless given). What takes longer\n"
    "is run once, or skipped with the reason. Ctrl-C ends it with the records so far.\n\n"
    "--threads measures on CPU devices with each of these numbers of threads, and tells speed-up and efficiency.\n\n"
    "Example:\n"
    "  tessera bench gemm --device all\n"
    "  tessera bench all --device all --most-work 0.5\n"
    "  tessera bench gemm --device cuda:0,cpu:0 --variant tiled,naive --set tile=16 --json result.json\n"
    "  tessera bench gemm --problem m=256:4096:*2,n=777,k=512,type=float32,float64 --device cpu:0\n"
    "  tessera bench conv2d --device cpu:0 --threads 1,2,4\n"
    "  tessera bench all --device cpu:0 --compare before.json\n"
    "  tessera bench gemm --study --device all --json study.json\n"
    "  tessera bench conv2d --study --device cpu:0,cpu:1\n";

/// All devices' jobs of one case after each other: what is compared should be measured within seconds, because clocks
/// and other programs change over minutes.
std::vector<Job> case_by_case(std::vector<Job> jobs) {
  std::map<const conformance::Case*, std::size_t> places;
  for (const Job& job : jobs) places.emplace(job.problem, places.size());
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return places.at(a.problem) < places.at(b.problem); });
  return jobs;
}

std::string case_name_of(const conformance::Case& problem) {
  return std::string(problem.name());
}

class BenchCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    command_ = program.add_subcommand("bench", "Measure variants on devices; what is wrong gets no number");
    declare_selection(*command_, selection_);
    command_->add_option("--min-time", limits_.min_time_s, "Seconds that the repetitions of a record last at least")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command_->add_option("--warm-up", limits_.warm_up_s, "Seconds of warm-up before each record")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command_
        ->add_option("--time-limit", limits_.time_limit_s,
                     "Seconds that a record may take beside its verification: slower ones get fewer repetitions (at "
                     "least 3), or are skipped")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    most_work_ = command_
                     ->add_option("--most-work", most_gflop_,
                                  "Of each operator only cases of at most so many 10^9 operations, and always its "
                                  "smallest")
                     ->check(CLI::NonNegativeNumber);
    threads_ = command_
                   ->add_option("--threads", thread_counts_,
                                "CPU devices with each of these numbers of threads, and what more of them bring")
                   ->check(CLI::PositiveNumber)
                   ->delimiter(',')
                   ->type_name("N,...");
    command_->add_flag("--remeasure-peaks", measure_peaks_again_, "Measure the devices' peaks again");
    compare_ =
        command_->add_option("--compare", old_path_, "An older result file: exit code 1 if a record is slower now")
            ->type_name("OLD.json");
    CLI::Option* study = command_->add_flag("--study", study_, "Measure the operator's study instead of its benchmark");
    study->excludes(most_work_);
    study->excludes(compare_);
    study->excludes(threads_);
    study->excludes(command_->get_option("--problem"));
    command_->add_flag("--quick", quick_, "With --study: sizes so small that a test can run it")->needs(study);
    command_->add_option("--note", note_, "A remark on this run that its result file keeps");
    command_->add_option("--json", json_, "Write every record as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command_->footer(kFooter);
    return command_;
  }

  int run() override {
    // Before long work starts.
    if (compare_->count() > 0) old_.emplace(old_path_);
    ResultFile file(json_);
    Json result = result_head("tessera bench");
    if (!note_.empty()) result["note"] = note_;
    const int code = study_ ? study(file, result) : benchmark(file, result);
    if (is_interrupted()) result["interrupted"] = true;
    file.write(result);
    stop_if_interrupted();
    return code;
  }

 private:
  int study(const ResultFile& file, Json& result) {
    StudyRequest request{.selection = selection_,
                         .limits = study_limits(quick_),
                         .quick = quick_,
                         .measure_peaks_again = measure_peaks_again_};
    const auto take = [&](const char* option, double MeasurementLimits::*limit) {
      if (command_->count(option) > 0) request.limits.*limit = limits_.*limit;
    };
    take("--min-time", &MeasurementLimits::min_time_s);
    take("--warm-up", &MeasurementLimits::warm_up_s);
    take("--time-limit", &MeasurementLimits::time_limit_s);
    request.limits.one_run_limit_s = request.limits.time_limit_s;
    return run_studies(request, file.text(), result);
  }

  int benchmark(const ResultFile& file, Json& result) {
    const SelectedProblems problems(selection_);
    OpenDevices devices = open_devices(selection_.devices, file.text());
    if (!thread_counts_.empty()) open_with_threads(devices, thread_counts_);
    std::vector<Job> jobs = problems.jobs(selection_, devices.list, {conformance::Purpose::benchmark});
    if (most_work_->count() > 0) keep_small(jobs, most_gflop_ * 1e9);
    jobs = case_by_case(std::move(jobs));
    std::vector<BenchRecord> records = run_jobs(jobs, devices.list, result["devices"]);
    if (old_) measure_slower_again(devices.list, records);

    for (const BenchRecord& record : records) result["records"].push_back(to_json(record));
    file.text() << bench_table(records);
    const std::string comparison = comparison_table(records);
    if (!comparison.empty()) file.text() << "\n" << comparison;
    if (!thread_counts_.empty()) {
      const std::vector<ThreadRow> rows = thread_rows(records);
      result["threads"] = to_json(rows, case_name_of);
      print_table(file.text(), "speed-up over threads", thread_text(rows, case_name_of));
    }
    if (old_) file.text() << "\n" << changes_text(*old_, records);
    return devices.all_opened && !is_slower(records) ? exit_code(records) : kExitFailure;
  }

  [[nodiscard]] std::vector<Change> changes(const std::vector<BenchRecord>& records) const {
    return old_ ? changes_from(*old_, records) : std::vector<Change>();
  }
  [[nodiscard]] bool is_slower(const std::vector<BenchRecord>& records) const {
    const std::vector<Change> all = changes(records);
    return std::any_of(all.begin(), all.end(), [](const Change& change) { return change.is_slower(); });
  }

  /// Another program on the machine makes a record slower as well: the fastest of three counts.
  void measure_slower_again(const std::vector<OpenDevice>& devices, std::vector<BenchRecord>& records) {
    for (int round = 0; round < 2 && !is_interrupted(); ++round) {
      std::vector<std::size_t> places;
      std::vector<Job> jobs;
      for (const Change& change : changes(records)) {
        if (!change.is_slower()) continue;
        places.push_back(static_cast<std::size_t>(change.record - records.data()));
        jobs.push_back(change.record->job);
      }
      Json devices_json;
      std::vector<BenchRecord> again =
          jobs.empty() ? std::vector<BenchRecord>() : run_jobs(jobs, devices, devices_json);
      for (std::size_t i = 0; i < again.size(); ++i) {
        BenchRecord& record = records[places[i]];
        const bool failed = again[i].status == BenchStatus::failed;
        if (failed || (again[i].measurement && speed_of(again[i]) > speed_of(record))) record = std::move(again[i]);
      }
    }
  }

  /// Ctrl-C ends it early, with the records that are complete.
  std::vector<BenchRecord> run_jobs(const std::vector<Job>& jobs, const std::vector<OpenDevice>& devices,
                                    Json& devices_json) {
    Progress progress(jobs.size());
    std::vector<BenchRecord> records;
    try {
      const DevicePeaks peaks = find_device_peaks(devices, measure_peaks_again_, progress, devices_json);
      Benchmark benchmark(limits_);
      for (std::size_t done = 0; done < jobs.size(); ++done) {
        stop_if_interrupted();
        const Job& job = jobs[done];
        progress.show(done, fmt::format("{} {} {} {}", job.set->operator_name, job.device->name, job.variant,
                                        job.problem->name()));
        records.push_back(benchmark.run(job, peaks.at(job.device)));
      }
    } catch (const Interrupted&) {
      // The caller writes the records so far, and then says that it was interrupted.
    }
    return records;
  }

  static int exit_code(const std::vector<BenchRecord>& records) {
    const auto count = [&](BenchStatus status) {
      return std::count_if(records.begin(), records.end(),
                           [&](const BenchRecord& record) { return record.status == status; });
    };
    return count(BenchStatus::failed) == 0 && count(BenchStatus::verified) > 0 ? kExitSuccess : kExitFailure;
  }

  CLI::App* command_ = nullptr;
  Selection selection_;
  MeasurementLimits limits_;
  CLI::Option* most_work_ = nullptr;
  double most_gflop_ = 0;
  bool measure_peaks_again_ = false;
  bool study_ = false;
  bool quick_ = false;
  std::string note_;
  std::string json_;
  CLI::Option* compare_ = nullptr;
  std::string old_path_;
  std::optional<OldResults> old_;
  CLI::Option* threads_ = nullptr;
  std::vector<std::uint32_t> thread_counts_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() {
  return std::make_unique<BenchCommand>();
}

}  // namespace tessera::tool
