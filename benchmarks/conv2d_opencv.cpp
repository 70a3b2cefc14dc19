// The program `tessera_conv2d_opencv`: conv2d on the CPU backend beside OpenCV's filter2D in float, on one thread. With
// --check, exit code 1 if a floor is missed. OpenCV is this program's alone: the library never needs it.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tessera/tessera.h>
#include <opencv2/core.hpp>

#include "benchmarks/conv2d_peer.h"
#include "tools/command.h"
#include "tools/output/result_file.h"
#include "tools/output/table.h"
#include "tools/process/run_program.h"
#include "tools/process/usage_error.h"

namespace {

using namespace tessera;
using benchmarks::PeerRecord;

struct Options {
  std::string json;
  double seconds = 4;
  bool check = false;
};

std::string table_of(const std::vector<PeerRecord>& records) {
  tool::Table table({{"filter"},
                     {"variant"},
                     {"type"},
                     {"pixels"},
                     {"threads", tool::Align::right},
                     {"ours", tool::Align::right},
                     {"OpenCV", tool::Align::right},
                     {"ratio", tool::Align::right},
                     {"floor", tool::Align::right},
                     {"speed-up", tool::Align::right},
                     {"memory allows", tool::Align::right},
                     {"status"}});
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : std::string();
  };
  for (const PeerRecord& record : records) {
    table.add_row({fmt::format("{} x {}", record.size, record.size), record.variant,
                   std::string(to_string(record.type)), record.pixels, std::to_string(record.threads),
                   tool::format_seconds(record.ours_s.median), tool::format_seconds(record.opencv_s.median),
                   number(record.ratio), number(record.at_least), number(record.speed_up), number(record.memory_allows),
                   record.kept() ? "kept" : "MISSED"});
  }
  return table.render();
}

int measure(const Options& options) {
  tool::ResultFile file(options.json);
  tool::Json result = tool::result_head("tessera_conv2d_opencv");
  result["devices"].push_back(tool::to_json(open("cpu:0").info()));
  result["opencv"] = cv::getVersionString();
  const benchmarks::PeerResult measured = benchmarks::measure_beside_opencv(options.seconds);
  bool all_kept = true;
  for (const double rate : measured.triad_bytes_per_s) result["triad_bytes_per_s"].push_back(rate);
  for (const PeerRecord& record : measured.records) {
    result["records"].push_back(to_json(record));
    all_kept = all_kept && record.kept();
  }
  file.text() << table_of(measured.records)
              << fmt::format(
                     "\n4096 x 4096, border same; OpenCV {} filter2D in float32 on one thread, all results equal. "
                     "Triad: {:.1f} GB/s by\none thread, {:.1f} GB/s by two. A second thread must give {} or {} of "
                     "what that allows.\n",
                     cv::getVersionString(), measured.triad_bytes_per_s[0] * 1e-9, measured.triad_bytes_per_s[1] * 1e-9,
                     benchmarks::kSecondThreadAtLeast, benchmarks::kShareOfMemory);
  file.write(result);
  return all_kept || !options.check ? tool::kExitSuccess : tool::kExitFailure;
}

int run(int argc, char** argv) {
  CLI::App program("Measures conv2d on the CPU beside OpenCV's filter2D", "tessera_conv2d_opencv");
  Options options;
  program.add_option("--json", options.json, "Write every figure as JSON to this file, or to standard output for -")
      ->type_name("FILE|-");
  program.add_option("--seconds", options.seconds, "How long each filter's rounds last")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  program.add_flag("--check", options.check, "Exit code 1 if a floor is missed");
  program.footer("Example:\n  tessera_conv2d_opencv --check --json conv2d_opencv.json\n");
  try {
    program.parse(argc, argv);
    return measure(options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    std::cerr << fmt::format("tessera_conv2d_opencv: {} (see tessera_conv2d_opencv --help)\n", error.what());
  } catch (const tool::UsageError& error) {
    std::cerr << fmt::format("tessera_conv2d_opencv: {} (see tessera_conv2d_opencv --help)\n", error.what());
  }
  return tool::kExitWrongUse;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tool::run_program("tessera_conv2d_opencv", argc, argv, run);
}
