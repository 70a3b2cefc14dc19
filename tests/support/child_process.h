// Runs a program in a process of its own, for what needs another environment or may end the process.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tessera::testing_support {

struct ChildResult {
  int status = -1;     ///< exit status; -1 if a signal ended it
  int signal = 0;      ///< the signal that ended it, or 0
  std::string output;  ///< stdout and stderr
};

/// Runs `program` with these arguments, and with these variables set ("" unsets one) on top of this environment, from
/// which those that share a GoogleTest program's tests out to several processes are taken first.
[[nodiscard]] ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                                    const std::map<std::string, std::string>& environment);

/// Path of the running program.
[[nodiscard]] std::string this_program();
/// Path of a file in the same folder, so that test programs and what they start can be moved together.
[[nodiscard]] std::string beside_this_program(const std::string& name);

}  // namespace tessera::testing_support
