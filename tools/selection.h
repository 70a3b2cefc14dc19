// What a command line selects: operators, devices, variants, cases and tuning values; and the jobs that follow from it.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/tessera.h>

#include "conformance/problem_set.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::tool {

/// The options that verify and bench share, as they were typed.
struct Selection {
  std::string operator_name = "all";
  std::vector<std::string> devices = {"all"};
  std::vector<std::string> variants = {"all"};
  std::vector<std::string> cases = {};     ///< names or patterns; empty: all
  std::vector<std::string> problems = {};  ///< as --problem describes them: see typed_problems.h
  std::vector<std::string> settings = {};  ///< "tile=8"
  /// Adds a job for every other tuning value, on the cases that are meant for it and unless `settings` name values.
  bool every_tuning = false;
};

/// Adds the operator, --device, --variant, --case, --problem and --set to a subcommand.
void declare_selection(CLI::App& command, Selection& selection);
/// One of them.
CLI::Option* declare_operator(CLI::App& command, Selection& selection);
CLI::Option* declare_devices(CLI::App& command, Selection& selection);
CLI::Option* declare_problem(CLI::App& command, Selection& selection);

/// A device that the selection names, opened.
struct OpenDevice {
  std::string name;  ///< as it was asked for: "cpu:0?threads=4"
  Device device;
  DeviceInfo info;
};

/// Opens what --device names. UsageError for a name that is no device name. With "all", every device present: one that
/// does not open is left out and named on `complaints`, and `all_opened` becomes false.
struct OpenDevices {
  std::vector<OpenDevice> list;
  bool all_opened = true;
};
[[nodiscard]] OpenDevices open_devices(const std::vector<std::string>& names, std::ostream& complaints);

/// One case with one variant on one device.
struct Job {
  const OpenDevice* device = nullptr;
  const conformance::ProblemSet* set = nullptr;
  const conformance::Case* problem = nullptr;
  std::string variant = {};
  std::string because = {};  ///< why it cannot run here; "" if it can
  std::string typed = {};    ///< the problem as --problem described it; "" for a case of the library's own
  Tuning tuning = {};        ///< what --set forces for this variant, or what was tuned for the default
  bool is_default = false;   ///< the variant is chosen here when none is forced
  bool is_extra = false;     ///< there only for another tuning value, because of Selection::every_tuning
};

/// Every job of the selection, device by device, only cases of the purposes given. Points into `sets` and `devices`.
/// UsageError if the operator, a case, a variant or a tuning name or value is known nowhere in it.
[[nodiscard]] std::vector<Job> plan_jobs(const Selection& selection, const std::vector<conformance::ProblemSet>& sets,
                                         const std::vector<OpenDevice>& devices,
                                         const std::vector<conformance::Purpose>& purposes);

/// Leaves of each operator the jobs of cases with at most so many operations, and always those of its smallest case.
void keep_small(std::vector<Job>& jobs, double most_flops);

/// The command line that runs a job alone: "tessera verify gemm --device cpu:0 --variant tiled --case m17".
[[nodiscard]] std::string command_line(std::string_view command, const Job& job);

/// True if `name` is `pattern`, where * stands for any letters and ? for one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

/// {"tile=8"} as {{"tile", 8}}. UsageError if a setting is no name=integer, or names a tunable twice.
[[nodiscard]] Tuning parse_settings(const std::vector<std::string>& settings);

}  // namespace tessera::tool
