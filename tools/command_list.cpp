// The list of subcommands: one line each.
#include "tools/command.h"

namespace tessera::tool {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_devices_command());
  commands.push_back(make_verify_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_report_command());
  commands.push_back(make_explain_command());
  commands.push_back(make_tune_command());
  commands.push_back(make_convolve_command());
  commands.push_back(make_classify_command());
  commands.push_back(make_digits_command());
  commands.push_back(make_denoise_command());
  commands.push_back(make_phantom_command());
  commands.push_back(make_slice_command());
  commands.push_back(make_psnr_command());
  return commands;
}

}  // namespace tessera::tool
