// The test program's side of opencl_faults.h: finds the plug-in with faults, and says if another one was loaded.
#pragma once

#include <string>

#include "opencl/opencl_faults.h"

namespace tessera::fault {

/// The hold on the plug-in of this process. Ends the program with a sentence if the backend opencl is not the one with
/// faults; call driver_state() first to learn why it is not there.
[[nodiscard]] OpenclFaults& faulty_driver();

/// "" if the backend opencl is ready, else its state and the reason.
[[nodiscard]] std::string driver_state();

/// "3 MemObject, 1 Queue", or "" if nothing is alive.
[[nodiscard]] std::string alive_text();

}  // namespace tessera::fault
