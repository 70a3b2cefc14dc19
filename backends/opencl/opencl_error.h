// Translates OpenCL's error codes to names and to tessera's errors. The only place that does.
#pragma once

#include <string>
#include <string_view>

#include <tessera/error.h>

#include "opencl_api.h"

namespace tessera::opencl {

/// What was going on when the code came back: some codes mean different things at different times.
enum class Stage {
  request,     ///< asking, creating or queueing something
  allocation,  ///< taking memory
  build,       ///< compiling a program
  launch,      ///< queueing a kernel
  execution,   ///< waiting for commands that run on the device
};

/// The code as cl.h spells it: "CL_OUT_OF_RESOURCES".
[[nodiscard]] std::string name_of(cl_int native);
[[nodiscard]] ErrorCode code_of(cl_int native, Stage stage) noexcept;

[[noreturn]] void throw_error(cl_int native, Stage stage, std::string sentence, std::string log = {});
/// With the sentence that fits most calls: "clFinish on 'NVIDIA H200' fails with CL_OUT_OF_RESOURCES".
[[noreturn]] void throw_failed_call(cl_int native, Stage stage, std::string_view call, std::string_view device);

/// Throws unless the call succeeded.
inline void check(cl_int native, Stage stage, std::string_view call, std::string_view device) {
  if (native != CL_SUCCESS) [[unlikely]]
    throw_failed_call(native, stage, call, device);
}

}  // namespace tessera::opencl
