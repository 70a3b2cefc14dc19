// The options by which a command line selects.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tools/selection.h"

namespace tessera::tool {

namespace {

/// $TESSERA_DEVICE, which a program with rights that its caller has not leaves alone; the parser would read it always.
std::vector<std::string> devices_of_environment() {
  std::vector<std::string> names;
  const char* const value = ::secure_getenv("TESSERA_DEVICE");
  std::istringstream text(value != nullptr ? value : "");
  for (std::string name; std::getline(text, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

CLI::Option* declare_operator(CLI::App& command, Selection& selection) {
  return command.add_option("operator", selection.operator_name, "Operator, or all")
      ->type_name("OP")
      ->capture_default_str();
}

CLI::Option* declare_devices(CLI::App& command, Selection& selection) {
  if (const std::vector<std::string> named = devices_of_environment(); !named.empty()) selection.devices = named;
  return command
      .add_option("-d,--device", selection.devices,
                  "Devices as `tessera devices` names them, with commas, or all; without it those of $TESSERA_DEVICE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("D[,D...]")
      ->capture_default_str();
}

CLI::Option* declare_problem(CLI::App& command, Selection& selection) {
  return command
      .add_option("-p,--problem", selection.problems,
                  "A problem by its fields, in place of cases: m=1000,n=777,k=512,type=float64. A value may be a list, "
                  "m=1,2,3, or a range, m=16:64:16 or m=256:4096:*2. A field that is not named is as the operator's "
                  "struct has it; a wrong name lists them all")
      ->allow_extra_args(false)
      ->type_name("FIELD=VALUE[,...]");
}

void declare_selection(CLI::App& command, Selection& selection) {
  declare_operator(command, selection);
  declare_devices(command, selection);
  const auto add_list = [&](const std::string& flag, std::vector<std::string>& names, const std::string& meaning) {
    return command.add_option(flag, names, meaning)->delimiter(',')->allow_extra_args(false);
  };
  add_list("-v,--variant", selection.variants, "Variants, with commas, or all")
      ->type_name("V[,V...]")
      ->capture_default_str();
  CLI::Option* cases = add_list("-c,--case", selection.cases, "Cases by name; * stands for any letters, ? for one")
                           ->type_name("NAME[,...]");
  declare_problem(command, selection)->excludes(cases);
  add_list("-s,--set", selection.settings, "Tuning value, for the variants that have this tunable")
      ->type_name("KEY=VALUE");
}

}  // namespace tessera::tool
