// Translates what the system, the C++ library and a program's own functions report into tessera::Error.
#pragma once

#include <exception>
#include <string>

#include <tessera/error.h>

namespace tessera::cpu_tbb {

/// The Error for a system call that failed with `error_number`. `sentence` says what could not be done.
[[nodiscard]] Error system_error(ErrorCode code, std::string sentence, int error_number);

/// The Error for an exception that leaves `thrower` ("the CPU function of kernel 'saxpy'"). A tessera::Error passes as
/// it is.
[[nodiscard]] Error translate(const std::exception_ptr& exception, const std::string& thrower);

}  // namespace tessera::cpu_tbb
