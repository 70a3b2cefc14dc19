// `tessera tune`: finds the fastest variant and tuning of this machine's devices, each verified, and keeps them for
// Device::kernel().
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"
#include "tools/tune/tune_report.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kFooter =
    "For each problem and device the variants that can run are tried with the tunings that they leave open, until the\n"
    "budget is spent, which the problems share. A candidate must be right at the problem and at two odd sizes beside\n"
    "it before its time counts. The fastest then run by turns with the default: one is kept only if it is faster\n"
    "beyond the spread, and by 2 %. What is kept serves every problem of the same class of shape, and stands in\n"
    "$XDG_DATA_HOME/tessera or ~/.local/share/tessera ($TESSERA_DATA_DIR). `tessera explain` shows it,\n"
    "TESSERA_TUNING=off switches it off. Without --problem the cases of the benchmark are tuned, one of each class.\n\n"
    "Ctrl-C ends the search; what it found is confirmed and kept.\n"
    "Exit code 0 only if something was decided, and nothing was wrong or failed.\n\n"
    "Example:\n"
    "  tessera tune gemm --problem m=1000,n=777,k=512 --device cpu:0 --budget 60s\n"
    "  tessera tune conv2d --device cuda:0 --budget 10min --json tuned.json\n";

/// One job a problem and device, whatever its variant: of problems of one class on one device the first.
std::vector<Job> places_of(const std::vector<Job>& jobs, std::ostream& text) {
  std::vector<Job> places;
  std::set<std::pair<const OpenDevice*, const conformance::Case*>> seen;
  std::map<std::pair<const OpenDevice*, std::string>, const conformance::Case*> of_class;
  for (const Job& job : jobs) {
    if (!seen.emplace(job.device, job.problem).second) continue;
    Job place{.device = job.device, .set = job.set, .problem = job.problem, .typed = job.typed};
    const std::string shape = job.set->operator_name + ": " + job.problem->shape_class();
    const auto [known, is_new] = of_class.try_emplace({job.device, shape}, job.problem);
    if (is_new) {
      places.push_back(std::move(place));
    } else {
      text << fmt::format("{} is of the class of {}, and not tuned apart\n", job.problem->name(),
                          known->second->name());
    }
  }
  return places;
}

class TuneCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand(
        "tune", "Find the fastest right variant and tuning on this machine, and keep it for every program");
    declare_operator(*command, selection_)->required();
    declare_devices(*command, selection_);
    CLI::Option* cases = command
                             ->add_option("-c,--case", selection_.cases,
                                          "Cases of the benchmark by name; * stands for any letters, ? for one")
                             ->delimiter(',')
                             ->allow_extra_args(false)
                             ->type_name("NAME[,...]");
    declare_problem(*command, selection_)->excludes(cases);
    command->add_option("-b,--budget", budget_, "Time for all of it: 60s, 5min, 1h")
        ->type_name("TIME")
        ->capture_default_str();
    command->add_flag("--dry-run", dry_run_, "Search and tell, but keep nothing");
    command->add_option("--json", json_, "Write every candidate as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command->footer(kFooter);
    return command;
  }

  int run() override {
    const double budget_s = parse_budget(budget_);
    ResultFile file(json_);
    const SelectedProblems problems(selection_);
    const OpenDevices devices = open_devices(selection_.devices, file.text());
    const TuningFiles files = tuning_files();
    for (const std::string& complaint : files.complaints) file.text() << complaint << "\n";
    const std::vector<Job> jobs = problems.jobs(selection_, devices.list, {conformance::Purpose::benchmark});
    const std::vector<Job> places = places_of(jobs, file.text());
    const std::vector<TuneOutcome> outcomes = tune_all(places, budget_s);

    Json result = result_head("tessera tune");
    for (const OpenDevice& device : devices.list) result["devices"].push_back(to_json(device.info));
    for (const TuneOutcome& outcome : outcomes) result["records"].push_back(to_json(outcome));
    if (is_interrupted()) result["interrupted"] = true;
    file.text() << tune_table(outcomes);
    if (outcomes.size() < places.size())
      file.text() << fmt::format("\n{} of {} problems were not begun: {} is over\n", places.size() - outcomes.size(),
                                 places.size(), is_interrupted() ? "the search" : "the budget");
    tell_where(outcomes, file.text());
    file.write(result);
    stop_if_interrupted();
    return devices.all_opened ? exit_code(outcomes) : kExitFailure;
  }

 private:
  [[nodiscard]] std::vector<TuneOutcome> tune_all(const std::vector<Job>& places, double budget_s) const {
    const auto begin = Clock::now();
    const auto elapsed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    Progress progress(static_cast<std::size_t>(budget_s + 0.5));
    progress.steps_are_alike();
    std::vector<TuneOutcome> outcomes;
    for (std::size_t i = 0; i < places.size() && !is_interrupted() && elapsed_s() < budget_s; ++i) {
      const Job& place = places[i];
      // What one leaves over is for those behind it.
      const double share_s = (budget_s - elapsed_s()) / static_cast<double>(places.size() - i);
      const auto tell = [&](double, std::string_view doing) {
        progress.show(
            std::min(static_cast<std::size_t>(elapsed_s()), static_cast<std::size_t>(budget_s)),
            fmt::format("s, {} {} {}: {}", place.device->name, place.set->operator_name, place.problem->name(), doing));
      };
      outcomes.push_back(tune(place, {.budget_s = share_s, .keeps = !dry_run_}, tell));
    }
    return outcomes;
  }

  static void tell_where(const std::vector<TuneOutcome>& outcomes, std::ostream& text) {
    if (std::none_of(outcomes.begin(), outcomes.end(), [](const TuneOutcome& outcome) { return outcome.is_kept; }))
      return;
    const TuningFiles files = tuning_files();
    text << "\n"
         << (files.results.empty() ? "kept, but not used by kernels while $TESSERA_TUNING is off\n"
                                   : fmt::format("kept in {}\n", files.results));
  }

  static int exit_code(const std::vector<TuneOutcome>& outcomes) {
    bool is_decided = false;
    for (const TuneOutcome& outcome : outcomes) {
      if (outcome.status == TuneStatus::failed || !outcome.rejected().empty()) return kExitFailure;
      is_decided = is_decided || outcome.status != TuneStatus::undecided;
    }
    return is_decided ? kExitSuccess : kExitFailure;
  }

  Selection selection_;
  std::string budget_ = "60s";
  bool dry_run_ = false;
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<TuneCommand>();
}

}  // namespace tessera::tool
