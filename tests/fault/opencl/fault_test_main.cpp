// The main of the programs that load the plug-in with faults: nothing to run where no OpenCL driver is.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "opencl/faulty_driver.h"

int main(int argc, char** argv) {
  using namespace tessera::fault;
  constexpr int kNothingToRun = 77;
  constexpr int kNotReady = 3;
  const std::string state = driver_state();
  if (argc > 1 && std::strcmp(argv[1], "--probe") == 0) {
    // For the sweep over what happens while the backend is looked for, which is once a process.
    std::printf("%ld calls; %s\n", faulty_driver().calls(), state.empty() ? "ready" : state.c_str());
    return state.empty() ? 0 : kNotReady;
  }
  if (!state.empty()) {
    std::printf("nothing to run: %s\n", state.c_str());
    return kNothingToRun;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
