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
#include "tools/bench/measuring_process.h"
#include "tools/bench/random_run.h"
#include "tools/command.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"
#include "tools/study/study.h"

namespace tessera::tool {

namespace {

/// Of a record where everything is measured: many of them in minutes rather than few in the last digit.
constexpr MeasurementLimits kEverything{.warm_up_s = 0.1, .min_time_s = 0.2, .time_limit_s = 2, .one_run_limit_s = 10};
constexpr double kEverythingBudget_s = 300;
/// Of many small problems with all their variants, in several rounds.
constexpr MeasurementLimits kRandom{.warm_up_s = 0.03, .min_time_s = 0.05, .time_limit_s = 0.5, .one_run_limit_s = 2};
constexpr std::size_t kRandomRounds = 3;

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
    "--random N draws N problems of each of an operator's classes, which reflect how it is used, and measures what "
    "the\n"
    "library takes by default beside each of its variants and every other library. The library's variants share a\n"
    "process, and every other library has one; these take turns. Three ratios are told: the default's speed over the "
    "best\n"
    "of the library's own, over the best of all, and over the best other library; and the worst problems, in words "
    "that\n"
    "--problem takes. The same seed gives the same problems on every machine. A problem asks for 2 x 10^9 operations "
    "at\n"
    "most, or --most-work, and for 256 MiB. --repeat is 3 here, warm-up 0.03, minimum 0.05 and limit 0.5, unless "
    "given.\n"
    "\n"
    "--threads measures on CPU devices with each of these numbers of threads, and tells speed-up and efficiency.\n\n"
    "Example:\n"
    "  tessera bench gemm --device all\n"
    "  tessera bench --all --json results.json\n"
    "  tessera bench all --device all --most-work 0.5\n"
    "  tessera bench gemm --device cuda:0 --repeat 5 --cold --transfers\n"
    "  tessera bench gemm --device cuda:0,cpu:0 --variant tiled,naive --set tile=16 --json result.json\n"
    "  tessera bench gemm --problem m=256:4096:*2,n=777,k=512,type=float32,float64 --device cpu:0\n"
    "  tessera bench gemm --random 50 --seed 7 --class vectors,odd --device cpu:0 --json random.json\n"
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
            "With --all or --random: seconds for all of it; what has no room is skipped. 0: as long as it takes, as "
            "--random does unless it is given")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
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
    declare_random(*everything, *study);
    command_->add_option("--note", note_, "A remark on this run that its result file keeps");
    command_->add_option("--json", json_, "Write every record as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command_->footer(kFooter);
    return command_;
  }

  int run() override {
    if (is_measuring_process_) return serve_measurements();
    if (command_->count("--budget") > 0 && !everything_ && random_->count() == 0)
      throw UsageError("--budget needs --all or --random");
    // Before long work starts.
    if (compare_->count() > 0) old_.emplace(old_path_);
    ResultFile file(json_);
    Json result = result_head("tessera bench");
    if (!note_.empty()) result["note"] = note_;
    const int code = study_                 ? study(file, result)
                     : random_->count() > 0 ? random(file, result)
                                            : benchmark(file, result);
    if (is_interrupted()) result["interrupted"] = true;
    file.write(result);
    stop_if_interrupted();
    return code;
  }

 private:
  void declare_random(CLI::Option& everything, CLI::Option& study) {
    random_ = command_
                  ->add_option("--random", random_count_,
                               "So many random problems of each class: the default beside every variant and other "
                               "library, which have processes of their own")
                  ->check(CLI::Range(1, 10000))
                  ->type_name("N");
    command_->add_option("--seed", seed_, "With --random: other problems")->capture_default_str()->needs(random_);
    command_
        ->add_option("--class", classes_,
                     "With --random: these classes of the operator alone; a wrong name lists them all")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME,...")
        ->needs(random_);
    for (const char* other : {"--variant", "--case", "--problem", "--set", "--threads", "--compare", "--transfers"})
      random_->excludes(command_->get_option(other));
    random_->excludes(&everything);
    random_->excludes(&study);
    // What --random starts; of no use to people.
    command_->add_flag(kMeasuringFlag, is_measuring_process_)->group("");
  }

  /// What was not given is as `usual` has it.
  void take_usual(const MeasurementLimits& usual, MeasurementLimits& limits) const {
    if (command_->count("--min-time") == 0) limits.min_time_s = usual.min_time_s;
    if (command_->count("--warm-up") == 0) limits.warm_up_s = usual.warm_up_s;
    if (command_->count("--time-limit") == 0) limits.time_limit_s = usual.time_limit_s;
    limits.one_run_limit_s = std::max(usual.one_run_limit_s, limits.time_limit_s);
  }

  int random(const ResultFile& file, Json& result) {
    RandomRequest request{.operator_name = selection_.operator_name,
                          .devices = selection_.devices,
                          .classes = classes_,
                          .count = random_count_,
                          .seed = seed_,
                          .problem_limits = {},
                          .rounds = command_->count("--repeat") > 0 ? rounds_ : kRandomRounds,
                          .budget_s = command_->count("--budget") > 0 ? budget_s_ : 0};
    if (most_work_->count() > 0) request.problem_limits.most_flops = most_gflop_ * 1e9;
    MeasurementLimits limits = limits_;
    take_usual(kRandom, limits);
    MeasuringProcesses processes(limits);
    return run_random(request, processes, file.text(), result);
  }

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
      take_usual(kEverything, request.plan.limits);
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
  CLI::Option* random_ = nullptr;
  std::size_t random_count_ = 0;
  std::uint64_t seed_ = 1;
  std::vector<std::string> classes_;
  bool is_measuring_process_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() {
  return std::make_unique<BenchCommand>();
}

}  // namespace tessera::tool
