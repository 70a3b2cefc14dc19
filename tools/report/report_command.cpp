// `tessera report`: result files become a page.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/command.h"
#include "tools/output/output_file.h"
#include "tools/report/page.h"

namespace tessera::tool {

namespace {

class ReportCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* const command =
        program.add_subcommand("report", "Make a page of result files, to look at and to pass on");
    command->add_option("results", results_, "Result files of tessera bench, with or without --study")
        ->required()
        ->type_name("RESULT.json");
    command->add_option("-o,--out", out_, "Where the page goes; - for standard output")
        ->capture_default_str()
        ->type_name("FILE");
    command->footer(
        "The page is one file that needs nothing else: charts of every operator over devices and variants with the "
        "other\n"
        "libraries marked, rooflines, speed over size, threads, copies, errors beside their bounds, and the tables "
        "behind\n"
        "them. With several files the first is set beside each of the others, and what changed by more than both runs\n"
        "spread is marked.\n\n"
        "Example:\n"
        "  tessera bench gemm --device all --json gemm.json\n"
        "  tessera report gemm.json -o gemm.html\n"
        "  tessera report before.json after.json -o change.html\n");
    return command;
  }

  [[nodiscard]] int run() override {
    std::vector<ReportInput> inputs;
    for (const std::string& path : results_) inputs.push_back(read_report_input(path));
    const std::string page = report_page(inputs);
    OutputFile file(out_, "the page");
    if (!file.write(reinterpret_cast<const std::uint8_t*>(page.data()), page.size())) file.fail();
    file.commit();
    if (out_ != "-") std::cout << fmt::format("{}: {} KB, for any browser\n", out_, (page.size() + 999) / 1000);
    return kExitSuccess;
  }

 private:
  std::vector<std::string> results_;
  std::string out_ = "report.html";
};

}  // namespace

std::unique_ptr<Command> make_report_command() {
  return std::make_unique<ReportCommand>();
}

}  // namespace tessera::tool
