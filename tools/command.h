// A subcommand of the program and the list of them. A new subcommand is one file, one maker here and one line in
// command_list.cpp.
#pragma once

#include <memory>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::tool {

/// What the program's exit says to a script; a signal that asked it to end is 128 and its number.
enum ExitCode : int {
  kExitSuccess = 0,
  kExitFailure = 1,   ///< something was found wrong, or the library reported an error
  kExitWrongUse = 2,  ///< the command line cannot be understood
};

/// One subcommand: declares its options, and runs once they are parsed.
class Command {
 public:
  virtual ~Command() = default;
  /// Adds the subcommand to the program. Returns it, so that the program sees whether it was asked for.
  virtual CLI::App* declare(CLI::App& program) = 0;
  /// Returns the exit code. Throws UsageError for wrong use and tessera::Error for what the library reports.
  [[nodiscard]] virtual int run() = 0;
};

[[nodiscard]] std::unique_ptr<Command> make_devices_command();
[[nodiscard]] std::unique_ptr<Command> make_verify_command();
[[nodiscard]] std::unique_ptr<Command> make_bench_command();
[[nodiscard]] std::unique_ptr<Command> make_report_command();
[[nodiscard]] std::unique_ptr<Command> make_explain_command();
[[nodiscard]] std::unique_ptr<Command> make_tune_command();
[[nodiscard]] std::unique_ptr<Command> make_convolve_command();
[[nodiscard]] std::unique_ptr<Command> make_classify_command();
[[nodiscard]] std::unique_ptr<Command> make_digits_command();
[[nodiscard]] std::unique_ptr<Command> make_denoise_command();
[[nodiscard]] std::unique_ptr<Command> make_phantom_command();
[[nodiscard]] std::unique_ptr<Command> make_slice_command();
[[nodiscard]] std::unique_ptr<Command> make_psnr_command();

/// Every subcommand, in the order that --help lists them.
[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands();

}  // namespace tessera::tool
