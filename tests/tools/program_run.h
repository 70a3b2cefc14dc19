// The program `tessera` in a scratch folder, as a user's shell runs it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/scratch_folder.h"

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

/// A test that runs the program.
class ProgramTest : public testing::Test {
 protected:
  /// Arguments and streams as the shell reads them, and variables that stand before the program.
  Outcome run(const std::string& arguments, const std::string& variables = "") const {
    return run_line(scratch, variables + " \"$tessera\" " + arguments);
  }

  ScratchFolder scratch;
};

/// One that needs cpu:0.
class ProgramOnCpuTest : public ProgramTest {
 protected:
  void SetUp() override {
    const Outcome devices = run("devices");
    ASSERT_EQ(devices.exit_code, 0) << devices.standard_error;
    if (devices.standard_output.find("cpu:0") == std::string::npos) GTEST_SKIP() << "cpu:0 is not here";
  }
};

}  // namespace tessera::testing_support
