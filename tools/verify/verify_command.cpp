// `tessera verify`: every variant of every operator on every device against the oracle, on the machine of the user.
#include "tools/verify/verify_command.h"

#include <CLI/CLI.hpp>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/output/table.h"
#include "tools/process/interrupt.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

/// One line of the table: one variant on one device in one type.
struct Line {
  VerifyCounts counts;
  double worst_error = 0;  ///< of the case that came closest to its bound
  double bound = 0;
  std::string worst_case;
};

/// Everything that is printed after the run.
class Report {
 public:
  void add(const Job& job, const Verification& verification) {
    const std::string type(to_string(job.problem->type()));
    const std::string key = fmt::format("{}/{}/{}/{}", job.device->name, job.set->operator_name, job.variant, type);
    const auto [place, is_new] = places_.try_emplace(key, lines_.size());
    if (is_new) lines_.push_back({{job.device->name, job.set->operator_name, job.variant, type}, {}});
    Line& line = lines_[place->second].second;
    line.counts.add(verification.status);
    total_.add(verification.status);
    if (verification.status == VerifyStatus::unsupported) {
      ++reasons_[{job.device->name, job.variant, verification.reason}];
      return;
    }
    if (line.worst_case.empty() ||
        share_of_bound(verification.worst_error, verification.bound) > share_of_bound(line.worst_error, line.bound)) {
      line.worst_error = verification.worst_error;
      line.bound = verification.bound;
      line.worst_case = job.problem->name();
    }
    if (verification.status == VerifyStatus::failed) {
      failures_ += fmt::format("FAILED  {} {} {} {}\n  {}\n  reproduce: {}\n", job.device->name, job.set->operator_name,
                               job.variant, job.problem->name(), verification.reason, command_line("verify", job));
    }
  }

  void print(std::ostream& text) const {
    Table table({{"device"},
                 {"operator"},
                 {"variant"},
                 {"type"},
                 {"passed", Align::right},
                 {"failed", Align::right},
                 {"unsupported", Align::right},
                 {"worst error", Align::right},
                 {"its bound", Align::right},
                 {"in case"}});
    for (const auto& [names, line] : lines_) {
      std::vector<std::string> cells = names;
      cells.push_back(fmt::format("{}", line.counts.passed));
      cells.push_back(fmt::format("{}", line.counts.failed));
      cells.push_back(fmt::format("{}", line.counts.unsupported));
      if (!line.worst_case.empty()) {
        cells.push_back(format_number(line.worst_error));
        cells.push_back(format_number(line.bound));
        cells.push_back(line.worst_case);
      }
      table.add_row(std::move(cells));
    }
    text << table.render();
    if (!reasons_.empty()) text << "\nunsupported:\n";
    for (const auto& [key, count] : reasons_) {
      text << fmt::format("  {} {} ({}): {}\n", std::get<0>(key), std::get<1>(key),
                          count == 1 ? "1 case" : fmt::format("{} cases", count), std::get<2>(key));
    }
    if (!failures_.empty()) text << "\n" << failures_;
    text << fmt::format("\n{} passed, {} failed, {} unsupported\n", total_.passed, total_.failed, total_.unsupported);
  }

  [[nodiscard]] const VerifyCounts& total() const noexcept { return total_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::pair<std::vector<std::string>, Line>> lines_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> reasons_;
  std::string failures_;
  VerifyCounts total_;
};

class VerifyCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command =
        program.add_subcommand("verify", "Check every variant on every device of this machine against the oracle");
    selection_.every_tuning = true;
    declare_selection(*command, selection_);
    command->add_flag("--slow", slow_, "Run the large cases too");
    command->add_option("--json", json_, "Write every result as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command->footer(
        "Exit code 0 only if nothing failed and something ran.\n\n"
        "Example:\n"
        "  tessera verify\n"
        "  tessera verify gemm --device cuda:0,cpu:0 --variant tiled --case 'float32_*' --set tile=8\n"
        "  tessera verify gemm --problem m=1:9,n=1000,k=77,transpose_b=0,1\n");
    return command;
  }

  int run() override {
    ResultFile file(json_);
    std::vector<conformance::Purpose> purposes{conformance::Purpose::conformance};
    if (slow_) purposes.push_back(conformance::Purpose::slow);
    const SelectedProblems problems(selection_);
    const OpenDevices devices = open_devices(selection_.devices, file.text());
    const std::vector<Job> jobs = problems.jobs(selection_, devices.list, purposes);

    Json result = result_head("tessera verify");
    for (const OpenDevice& device : devices.list) result["devices"].push_back(to_json(device.info));
    const VerifyCounts counts = verify_jobs(jobs, file.text(), result["records"]);
    if (is_interrupted()) result["interrupted"] = true;
    file.write(result);
    stop_if_interrupted();
    return counts.success() && devices.all_opened ? kExitSuccess : kExitFailure;
  }

 private:
  Selection selection_;
  bool slow_ = false;
  std::string json_;
};

}  // namespace

VerifyCounts verify_jobs(const std::vector<Job>& jobs, std::ostream& text, Json& records) {
  Report report;
  {
    Progress progress(jobs.size());
    for (std::size_t done = 0; done < jobs.size() && !is_interrupted(); ++done) {
      const Job& job = jobs[done];
      progress.show(
          done, fmt::format("{} {} {} {}", job.set->operator_name, job.device->name, job.variant, job.problem->name()));
      const Verification verification = verify_job(job);
      report.add(job, verification);
      records.push_back(verify_record(job, verification));
    }
  }
  report.print(text);
  if (report.total().passed + report.total().failed == 0) text << "nothing ran, so nothing is verified\n";
  return report.total();
}

std::unique_ptr<Command> make_verify_command() {
  return std::make_unique<VerifyCommand>();
}

}  // namespace tessera::tool
