// The program `tessera` in a scratch folder, as a user's shell runs it.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "scratch_folder.h"

namespace tessera::testing_support {

struct Outcome {
  int exit_code = -1;
  std::string standard_output;
  std::string standard_error;
};

/// A line of a shell that stands in `scratch`; "$tessera" in it is the program.
inline Outcome run_line(const ScratchFolder& scratch, const std::string& line) {
  const std::string whole =
      "cd '" + scratch.path("") + "' && tessera='" TESSERA_TOOL_PATH "' && { " + line + "\n} >stdout 2>stderr";
  const int status = std::system(whole.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, scratch.read("stdout"), scratch.read("stderr")};
  std::filesystem::remove(scratch.path("stdout"));
  std::filesystem::remove(scratch.path("stderr"));
  return outcome;
}

}  // namespace tessera::testing_support
