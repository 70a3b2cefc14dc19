// The program `tessera_overhead`: what the library costs beside the bare driver, with a limit for each figure. Exit
// code 1 if a limit is missed.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "benchmarks/overhead_checks.h"
#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/output/result_file.h"
#include "tools/output/table.h"
#include "tools/process/run_program.h"
#include "tools/process/usage_error.h"
#include "tools/selection.h"

namespace {

using namespace tessera;
using benchmarks::OverheadRecord;

struct Options {
  std::vector<std::string> devices = {"all"};
  std::string json;
  bool report_only = false;
};

std::string limit_text(const OverheadRecord& record) {
  const auto number = [&](double value) {
    return record.check == "allocate" ? tool::format_seconds(value) : fmt::format("{:.2f}", value);
  };
  if (record.at_most) return "<= " + number(*record.at_most);
  if (record.at_least) return ">= " + number(*record.at_least);
  return "-";
}

std::string table_of(const std::vector<OverheadRecord>& records) {
  tool::Table table({{"device"},
                     {"check"},
                     {"library", tool::Align::right},
                     {"driver", tool::Align::right},
                     {"ratio", tool::Align::right},
                     {"limit", tool::Align::right},
                     {"status"}});
  for (const OverheadRecord& record : records) {
    const bool measured = record.reason.empty();
    std::string status = !record.has_limit() ? "reported" : (record.kept() ? "kept" : "MISSED");
    if (!measured) status += ": " + record.reason;
    table.add_row({record.device, record.check, measured ? tool::format_seconds(record.ours_s) : "",
                   record.driver_s ? tool::format_seconds(*record.driver_s) : "",
                   record.ratio ? fmt::format("{:.3f}", *record.ratio) : "", limit_text(record), status});
  }
  return table.render();
}

int measure(const Options& options) {
  tool::ResultFile file(options.json);
  const tool::OpenDevices opened = tool::open_devices(options.devices, file.text());
  const std::vector<tool::OpenDevice>& devices = opened.list;
  tool::Json result = tool::result_head("tessera_overhead");
  std::vector<OverheadRecord> records;
  {
    tool::Progress progress(devices.size());
    for (std::size_t done = 0; done < devices.size(); ++done) {
      progress.show(done, devices[done].name);
      result["devices"].push_back(tool::to_json(devices[done].info));
      for (OverheadRecord& record : benchmarks::measure_overhead(devices[done].device)) {
        result["records"].push_back(to_json(record));
        records.push_back(std::move(record));
      }
    }
  }
  file.text() << table_of(records)
              << "\nrun and launch: time of one of 1000 queued launches, the library's over the driver's. upload and\n"
                 "download: rate of 256 MiB from and to pinned memory, likewise. allocate: 1 MiB from the cache.\n";
  file.write(result);
  for (const OverheadRecord& record : records) {
    if (!record.kept() && !options.report_only) return tool::kExitFailure;
  }
  return opened.all_opened ? tool::kExitSuccess : tool::kExitFailure;
}

int run(int argc, char** argv) {
  CLI::App program("Measures what the library costs beside the bare driver", "tessera_overhead");
  Options options;
  program.add_option("-d,--device", options.devices, "Devices, with commas, or all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("D[,D...]")
      ->envname("TESSERA_DEVICE")
      ->capture_default_str();
  program.add_option("--json", options.json, "Write every figure as JSON to this file, or to standard output for -")
      ->type_name("FILE|-");
  program.add_flag("--report-only", options.report_only, "Exit code 0 even if a limit is missed");
  program.footer("Example:\n  tessera_overhead --device cuda:0,opencl:0 --json overhead.json\n");
  try {
    program.parse(argc, argv);
    return measure(options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    std::cerr << fmt::format("tessera_overhead: {} (see tessera_overhead --help)\n", error.what());
  } catch (const tool::UsageError& error) {
    std::cerr << fmt::format("tessera_overhead: {} (see tessera_overhead --help)\n", error.what());
  }
  return tool::kExitWrongUse;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tool::run_program("tessera_overhead", argc, argv, run);
}
