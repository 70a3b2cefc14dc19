// The program `tessera`: parses the command line and runs the subcommand. What the subcommands do is in their own
// files.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "tools/command.h"
#include "tools/process/run_program.h"
#include "tools/process/usage_error.h"

namespace {

using namespace tessera;

constexpr const char* kExamples =
    "Examples:\n"
    "  tessera devices                          what is here, and what is missing and why\n"
    "  tessera verify gemm --device cpu:0       is every variant right on this device?\n"
    "  tessera bench gemm --device all          how fast is every variant on every device?\n"
    "  tessera bench --all --json all.json      everything in five minutes, for tessera report\n"
    "  tessera report gemm.json -o gemm.html    a page of what --json gemm.json kept of it\n"
    "  tessera explain gemm --problem m=99,n=7,k=5   which variant is taken for this, and why?\n"
    "  tessera tune gemm --problem m=99,n=7,k=5  make this machine's programs faster at such products\n"
    "  tessera convolve in.png out.png --filter gaussian:5\n"
    "  tessera digits --out digits              a data set for tessera classify\n"
    "  tessera denoise scan.nii.gz clean.nii.gz\n"
    "  tessera bench gemm --trace trace.json    when each copy and kernel ran: open it in ui.perfetto.dev\n"
    "\n"
    "TESSERA_LOG=choice,compile,copy,memory (or all) tells on standard error what the library does.\n"
    "Exit codes: 0 success, 1 something failed, 2 wrong use, 128 and the number of a signal that ended it.\n";

int run(int argc, char** argv) {
  CLI::App program("Tessera, one API for CUDA, OpenCL and CPU devices: lists, verifies, measures and uses them.",
                   "tessera");
  program.set_version_flag("--version", fmt::format("tessera {} ({})", version(), commit()));
  program.footer(kExamples);
  program.require_subcommand(1);
  std::string trace;
  program
      .add_option("--trace", trace,
                  "Write what queues, copies and kernels did when to this file, for ui.perfetto.dev; any subcommand")
      ->type_name("FILE");

  const auto commands = tool::make_commands();
  std::vector<CLI::App*> subcommands;
  for (const auto& command : commands) {
    subcommands.push_back(command->declare(program));
    subcommands.back()->fallthrough();  // so that --trace may stand behind it, too
  }

  std::string asked = "tessera";
  try {
    program.parse(argc, argv);
    if (!trace.empty()) start_trace(trace);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (!subcommands[i]->parsed()) continue;
      asked += " " + subcommands[i]->get_name();
      const int code = commands[i]->run();
      stop_trace();  // tells what could not be written
      return code;
    }
    return tool::kExitWrongUse;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    for (const CLI::App* subcommand : subcommands) {
      if (subcommand->parsed()) asked = "tessera " + subcommand->get_name();
    }
    std::cerr << fmt::format("{}: {} (see {} --help)\n", asked, error.what(), asked);
  } catch (const tool::UsageError& error) {
    std::cerr << fmt::format("{}: {} (see {} --help)\n", asked, error.what(), asked);
  }
  return tool::kExitWrongUse;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tool::run_program("tessera", argc, argv, run);
}
