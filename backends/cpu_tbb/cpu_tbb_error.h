// Translates what the system, the C++ library and a program's own functions report into tessera::Error.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <tessera/error.h>

#include "cpu_tbb_memory_budget.h"

namespace tessera::cpu_tbb {

/// The Error for a system call that failed with `error_number`. `sentence` says what could not be done.
[[nodiscard]] Error system_error(ErrorCode code, std::string sentence, int error_number);

/// The Error for a block of `size_bytes` that is wanted for `purpose` ("a buffer"). Says which it was: the budget is
/// spent, or the system does not give what the budget allows.
[[nodiscard]] Error out_of_memory(std::size_t size_bytes, std::string_view purpose, const MemoryBudget& budget);

/// The Error for an exception that leaves `thrower` ("the CPU function of kernel 'saxpy'"). A tessera::Error passes as
/// it is. Where there is no memory for words, no_memory_left().
[[nodiscard]] Error translate(const std::exception_ptr& exception, std::string_view thrower) noexcept;

/// An Error that was made before memory ran out. The first call makes it and may throw std::bad_alloc. So a constructor
/// calls it whose object will need it later, where nothing may fail.
const Error& no_memory_left();

/// Calls `action`; a std::bad_alloc of it becomes an Error.
template <class Action>
decltype(auto) or_no_memory(Action&& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw Error(no_memory_left());
  }
}

}  // namespace tessera::cpu_tbb
