// `tessera bench`: how fast every variant is on every device of this machine, each verified before it is measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/benchmark.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/progress.h"

namespace tessera::tool {

namespace {

class BenchCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("bench", "Measure variants on devices; what is wrong gets no number");
    declare_selection(*command, selection_);
    command->add_option("--min-time", limits_.min_time_s, "Seconds that the repetitions of a record last at least")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--warm-up", limits_.warm_up_s, "Seconds of warm-up before each record")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        ->add_option("--time-limit", limits_.time_limit_s,
                     "Seconds that a record may take beside its verification: slower ones get fewer repetitions (at "
                     "least 3), or are skipped")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_flag("--remeasure-peaks", measure_peaks_again_, "Measure the devices' peaks again");
    command->add_option("--json", json_, "Write every record as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command->footer(
        "Device time is the median by events on the queue; spread the interquartile range over the median; wall time\n"
        "from the call until the host knows. GFLOP/s and GB/s are the least work of the problem by the device time. "
        "Of\n"
        "peak is the larger of GFLOP/s over the device's measured multiply-add peak and GB/s over its copy peak.\n"
        "Exit code 0 only if nothing failed and something was measured.\n\n"
        "Example:\n"
        "  tessera bench gemm --device all\n"
        "  tessera bench gemm --device cuda:0,cpu:0 --variant tiled,naive --set tile=16 --json result.json\n");
    return command;
  }

  int run() override {
    ResultFile file(json_);
    const OpenDevices devices = open_devices(selection_.devices, file.text());
    const std::vector<Job> jobs =
        plan_jobs(selection_, conformance::problem_sets(), devices.list, {conformance::Purpose::benchmark});
    Json result = result_head("tessera bench");
    const std::vector<BenchRecord> records = run_jobs(jobs, devices.list, result["devices"]);

    for (const BenchRecord& record : records) result["records"].push_back(to_json(record));
    file.text() << bench_table(records);
    const std::string comparison = comparison_table(records);
    if (!comparison.empty()) file.text() << "\n" << comparison;
    if (is_interrupted()) result["interrupted"] = true;
    file.write(result);
    stop_if_interrupted();
    return devices.all_opened ? exit_code(records) : kExitFailure;
  }

 private:
  /// Ctrl-C ends it early, with the records that are complete.
  std::vector<BenchRecord> run_jobs(const std::vector<Job>& jobs, const std::vector<OpenDevice>& devices,
                                    Json& devices_json) {
    Progress progress(jobs.size());
    std::vector<BenchRecord> records;
    std::map<const OpenDevice*, Peaks> peaks;
    try {
      for (const OpenDevice& device : devices) {
        Json entry = to_json(device.info);
        progress.show(0, fmt::format("peaks of {}", device.name));
        entry["asked_as"] = device.name;
        entry["peaks"] = to_json(peaks[&device] = find_peaks(device.device, measure_peaks_again_));
        devices_json.push_back(std::move(entry));
      }
      Benchmark benchmark(limits_);
      for (std::size_t done = 0; done < jobs.size(); ++done) {
        stop_if_interrupted();
        const Job& job = jobs[done];
        progress.show(done, fmt::format("{} {} {} {}", job.set->operator_name, job.device->name, job.variant,
                                        job.problem->name()));
        records.push_back(benchmark.run(job, peaks.at(job.device)));
      }
    } catch (const Interrupted&) {
      // The caller writes what there is, and then says so.
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

  Selection selection_;
  MeasurementLimits limits_;
  bool measure_peaks_again_ = false;
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() {
  return std::make_unique<BenchCommand>();
}

}  // namespace tessera::tool
