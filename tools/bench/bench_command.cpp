// `tessera bench`: how fast every variant is on every device of this machine, each verified before it is measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/bench_run.h"
#include "tools/command.h"
#include "tools/process/interrupt.h"
#include "tools/study/study.h"

namespace tessera::tool {

namespace {

/// Of a record where everything is measured: many of them in minutes rather than few in the last digit.
constexpr MeasurementLimits kEverything{.warm_up_s = 0.1, .min_time_s = 0.2, .time_limit_s = 2, .one_run_limit_s = 10};
constexpr double kEverythingBudget_s = 300;

constexpr const char* kFooter =
    "Device time is the median by events on the queue; spread the interquartile range over the median; wall time\n"
    "from the call until the host knows. GFLOP/s and GB/s are the least work of the problem by the device time. Of\n"
    "peak is the larger of GFLOP/s over the device's peak for that type (multiply-adds; dot products of bytes) and\n"
    "GB/s over what it reads from the nearest level that can hold the operands, each measured on this machine. More\n"
    "than 100 % says in the notes what was done less.\n"
    "Exit code 0 only if nothing failed and something was measured.\n\n"
    "--compare sets this run beside an older result file. A record is slower if it takes longer by more than both\n"
    "runs spread together, and by 5 % at least; what seems slower is measured twice again, and its fastest run "
    "counts.\n"
    "What other programs took of the processors meanwhile is allowed for, and told.\n"
    "Exit code 1 if one is.\n\n"
    "--all is one command over everything: of each operator, case and device the variant that the library takes, its\n"
    "own next one and the other libraries, every operator's smallest case first, then every operator's second. Limits\n"
    "are warm-up 0.1, minimum 0.2 and limit 2 unless given; a single run may take 10 s. Ctrl-C keeps what is "
    "measured.\n\n"
    "--cold writes a buffer larger than the caches before each timed run; the record says so. --repeat measures in\n"
    "rounds, so that what drifts on the machine meets all variants alike. --transfers times copies and runs apart.\n\n"
    "--study measures what docs/studies tells of: many sizes, tiles, threads, and the way to the device and back,\n"
    "each record for a fraction of a second (warm-up 0.02, minimum 0.02, limit 0.15 unless given). What takes longer\n"
    "is run once, or skipped with the reason. Ctrl-C ends it with the records so far.\n\n"
    "--threads measures on CPU devices with each of these numbers of threads, and tells speed-up and efficiency.\n\n"
    "Example:\n"
    "  tessera bench gemm --device all\n"
    "  tessera bench --all --json results.json\n"
    "  tessera bench all --device all --most-work 0.5\n"
    "  tessera bench gemm --device cuda:0 --repeat 5 --cold --transfers\n"
    "  tessera bench gemm --device cuda:0,cpu:0 --variant tiled,naive --set tile=16 --json result.json\n"
    "  tessera bench gemm --problem m=256:4096:*2,n=777,k=512,type=float32,float64 --device cpu:0\n"
    "  tessera bench conv2d --device cpu:0 --threads 1,2,4\n"
    "  tessera bench all --device cpu:0 --compare before.json\n"
    "  tessera bench gemm --study --device all --json study.json\n"
    "  tessera bench conv2d --study --device cpu:0,cpu:1\n"
    "  tessera bench cnn_layer --study --part sequential --device cpu:0\n";

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
    CLI::Option* everything =
        command_->add_flag("--all", everything_,
                           "Everything: of every operator and device the best variants and the peers, from small cases "
                           "to large ones, within --budget");
    command_
        ->add_option(
            "--budget", budget_s_,
            "With --all: seconds for peaks and records together; what has no room is skipped. 0: as long as it takes")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str()
        ->needs(everything);
    command_
        ->add_option("--repeat", rounds_,
                     "Measure every record so often, the variants of a case in turn; the middle one counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command_->add_flag("--cold", limits_.cold, "Empty the device's caches before each timed run");
    command_->add_flag("--transfers", transfers_,
                       "Also the way to the device and back, from ordinary and from pinned memory: upload, run and "
                       "download apart");
    command_->add_flag("--remeasure-peaks", measure_peaks_again_, "Measure the devices' peaks again");
    compare_ =
        command_->add_option("--compare", old_path_, "An older result file: exit code 1 if a record is slower now")
            ->type_name("OLD.json");
    CLI::Option* study = command_->add_flag("--study", study_, "Measure the operator's study instead of its benchmark");
    study->excludes(most_work_);
    study->excludes(compare_);
    study->excludes(threads_);
    study->excludes(command_->get_option("--problem"));
    for (const char* other : {"--all", "--repeat", "--cold", "--transfers"})
      study->excludes(command_->get_option(other));
    for (const char* other : {"--variant", "--problem", "--set"}) everything->excludes(command_->get_option(other));
    command_
        ->add_option(
            "--part", parts_,
            "With --study: these parts alone. Some take minutes and are measured only where they are named, as "
            "'sequential' of cnn_layer")
        ->delimiter(',')
        ->type_name("NAME,...")
        ->needs(study);
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
                         .parts = parts_,
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
    BenchRequest request{.selection = selection_,
                         .plan = {.limits = limits_, .rounds = rounds_, .budget_s = 0},
                         .everything = everything_,
                         .most_flops = {},
                         .thread_counts = thread_counts_,
                         .transfers = transfers_,
                         .measure_peaks_again = measure_peaks_again_,
                         .old = std::move(old_)};
    if (most_work_->count() > 0) request.most_flops = most_gflop_ * 1e9;
    if (everything_) {
      request.plan.budget_s = budget_s_;
      MeasurementLimits& limits = request.plan.limits;
      if (command_->count("--min-time") == 0) limits.min_time_s = kEverything.min_time_s;
      if (command_->count("--warm-up") == 0) limits.warm_up_s = kEverything.warm_up_s;
      if (command_->count("--time-limit") == 0) limits.time_limit_s = kEverything.time_limit_s;
      limits.one_run_limit_s = std::max(kEverything.one_run_limit_s, limits.time_limit_s);
    }
    return run_bench(request, file.text(), result);
  }

  CLI::App* command_ = nullptr;
  Selection selection_;
  MeasurementLimits limits_;
  CLI::Option* most_work_ = nullptr;
  double most_gflop_ = 0;
  bool measure_peaks_again_ = false;
  bool study_ = false;
  std::vector<std::string> parts_;
  bool quick_ = false;
  std::string note_;
  std::string json_;
  bool everything_ = false;
  double budget_s_ = kEverythingBudget_s;
  std::size_t rounds_ = 1;
  bool transfers_ = false;
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
