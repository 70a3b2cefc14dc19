// Translates OpenCL's error codes to names and to tessera's errors. The only place that does.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <tessera/error.h>

#include "opencl_api.h"

namespace tessera::opencl {

/// What was going on when the code came back: some codes mean different things at different times.
enum class Stage {
  request,     ///< asking, creating or queueing something
  allocation,  ///< taking memory
  build,       ///< compiling a program
  launch,      ///< queueing a kernel
  rest,        ///< queueing more of a command of which a part is queued: nothing is a refusal any more
  execution,   ///< waiting for commands that run on the device
  lost,        ///< anything, on a device that is known to be lost: see OpenclContext::is_lost()
};

/// The code as cl.h spells it: "CL_OUT_OF_RESOURCES".
[[nodiscard]] std::string name_of(cl_int native);
[[nodiscard]] ErrorCode code_of(cl_int native, Stage stage) noexcept;

/// Codes of a context that a command has crashed: everything that is asked of it answers so, and nothing runs any more.
[[nodiscard]] bool is_lost_code(cl_int native) noexcept;
/// Codes of a shortage, which may pass: of memory on the host or on the device, or of what else the driver needs.
[[nodiscard]] bool is_shortage(cl_int native) noexcept;

/// Asks, and asks again while the answer is a shortage, a few times and for no more than 25 ms in all.
template <class Call>
[[nodiscard]] cl_int ask_again(const Call& call) noexcept {
  cl_int answer = call();
  for (const int pause_ms : std::array{1, 4, 20}) {
    if (!is_shortage(answer)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    answer = call();
  }
  return answer;
}

[[noreturn]] void throw_error(cl_int native, Stage stage, std::string sentence, std::string log = {});
/// With the sentence that fits most calls: "clFinish on 'NVIDIA H200' fails with CL_OUT_OF_RESOURCES".
[[noreturn]] void throw_failed_call(cl_int native, Stage stage, std::string_view call, std::string_view device);

/// Throws unless the call succeeded.
inline void check(cl_int native, Stage stage, std::string_view call, std::string_view device) {
  if (native != CL_SUCCESS) [[unlikely]]
    throw_failed_call(native, stage, call, device);
}

}  // namespace tessera::opencl
