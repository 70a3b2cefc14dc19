// `tessera explain`: for a problem, every variant on every device: can it run, is it the default, and why.
#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/command.h"
#include "tools/output/result_file.h"
#include "tools/output/table.h"
#include "tools/process/usage_error.h"
#include "tools/selection.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

/// "tile=16 of 8, 16, 32": what is used, and what else there is.
std::string tunables_cell(const std::vector<Tunable>& tunables) {
  std::string cell;
  for (const Tunable& tunable : tunables) {
    cell += fmt::format("{}{}={} of {}", cell.empty() ? "" : "; ", tunable.name, tunable.preferred,
                        fmt::join(tunable.values, ","));
  }
  return cell;
}

Json tuned_record(const TunedValues& tuned) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"tuning", to_json(tuned.tuning)},
          {"measured_s", tuned.measured_s},
          {"default_s", tuned.default_s > 0 ? Json(tuned.default_s) : Json()},
          {"problem", tuned.problem},
          {"when", tuned.when},
          {"not_used_because", or_null(tuned.because)}};
}

Json record_of(const std::string& device, const conformance::Case& problem, const VariantReport& report) {
  Json tunables = Json::array();
  for (const Tunable& tunable : report.tunables) {
    tunables.push_back({{"name", tunable.name}, {"preferred", tunable.preferred}, {"values", tunable.values}});
  }
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"device", device},
          {"case", problem.name()},
          {"type", to_string(problem.type())},
          {"problem", to_json(problem.problem())},
          {"variant", report.variant},
          {"summary", report.summary},
          {"can_run", report.can_run},
          {"because", or_null(report.because)},
          {"is_default", report.is_default},
          {"is_shipped_default", report.is_shipped_default},
          {"passed_over", or_null(report.passed_over)},
          {"tunables", tunables},
          {"error_factor", report.error_factor},
          {"measured_s", report.measured_s ? Json(*report.measured_s) : Json()},
          {"tuned", report.tuned ? tuned_record(*report.tuned) : Json()},
          {"rejected", report.rejected},
          {"site", or_null(report.site)}};
}

std::string text_of(const Tuning& tuning) {
  std::string text;
  for (const auto& [name, value] : tuning) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "without tunables" : text;
}

/// What the search on this machine and its site file say of the variants; "" if nothing.
std::string sayings_of(const std::vector<VariantReport>& reports) {
  std::string text;
  for (const VariantReport& report : reports) {
    if (!report.site.empty()) text += fmt::format("{}: {}\n", report.variant, report.site);
    if (report.tuned) {
      const TunedValues& tuned = *report.tuned;
      const std::string beside = tuned.default_s > 0 ? fmt::format(", the default {}", format_seconds(tuned.default_s))
                                                     : ", the default was wrong or failed";
      text += fmt::format("{}: tuned on {} at {}: {}, {}{}; {}\n", report.variant, tuned.when, tuned.problem,
                          text_of(tuned.tuning), format_seconds(tuned.measured_s), beside,
                          tuned.because.empty() ? "used, from " + tuned.source : "not used: " + tuned.because);
    }
    for (const std::string& rejected : report.rejected) text += fmt::format("{}: {}\n", report.variant, rejected);
  }
  return text;
}

std::string table_of(const std::vector<VariantReport>& reports) {
  Table table({{"variant"}, {"answer"}, {"error factor", Align::right}, {"known time", Align::right}, {"because"}});
  for (const VariantReport& report : reports) {
    table.add_row({report.variant,
                   !report.can_run     ? "no"
                   : report.is_default ? "yes, default"
                                       : "yes",
                   report.can_run ? format_number(report.error_factor) : "",
                   report.measured_s ? format_seconds(*report.measured_s) : "",
                   !report.can_run               ? report.because
                   : !report.passed_over.empty() ? "passed over: " + report.passed_over
                                                 : report.summary});
  }
  std::string text = table.render();
  Table tunings({{"variant"}, {"tuning"}});
  for (const VariantReport& report : reports) {
    if (!report.tunables.empty()) tunings.add_row({report.variant, tunables_cell(report.tunables)});
  }
  if (!tunings.empty()) text += "\n" + tunings.render();
  const std::string sayings = sayings_of(reports);
  return sayings.empty() ? text : text + "\n" + sayings;
}

class ExplainCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand(
        "explain", "Tell which variant a device takes for a problem, what else could run, what cannot, and why");
    declare_operator(*command, selection_)->required();
    declare_devices(*command, selection_);
    declare_problem(*command, selection_)->required();
    command->add_option("--json", json_, "Write every answer as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command->footer(
        "Tuned is what `tessera tune` found on this machine for problems of this class.\n"
        "Known time is what `tessera bench` measured in the same process, so a program's own; here there is none.\n\n"
        "Example:\n"
        "  tessera explain gemm --problem m=1000,n=777,k=512,type=float64,transpose_b=1\n"
        "  tessera explain conv2d --device cpu:0 --problem height=480,width=640,filter_height=3:9:2,filter_width=3\n");
    return command;
  }

  int run() override {
    ResultFile file(json_);
    const SelectedProblems problems(selection_);
    const OpenDevices devices = open_devices(selection_.devices, file.text());
    for (const std::string& complaint : tuning_files().complaints) file.text() << complaint << "\n";
    Json result = result_head("tessera explain");
    const char* separator = "";
    for (const OpenDevice& device : devices.list) {
      result["devices"].push_back(to_json(device.info));
      for (const conformance::Case* problem : problems.typed()) {
        const std::vector<VariantReport> reports = explain(*problem, device);
        file.text() << separator
                    << fmt::format("{} {} on {} ({})\n\n", selection_.operator_name, problem->name(), device.name,
                                   device.info.name)
                    << table_of(reports);
        for (const VariantReport& report : reports)
          result["records"].push_back(record_of(device.name, *problem, report));
        separator = "\n";
      }
    }
    file.write(result);
    return devices.all_opened ? kExitSuccess : kExitFailure;
  }

 private:
  static std::vector<VariantReport> explain(const conformance::Case& problem, const OpenDevice& device) {
    try {
      return problem.explain(device.device);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
      throw;
    }
  }

  Selection selection_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace tessera::tool
