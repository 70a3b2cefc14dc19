// The rim of the library: whatever leaves a public function is a tessera::Error.
#pragma once

#include <tessera/error.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace tessera::detail {

/// The exception that is being handled, as an Error. An Error stays what it is.
[[nodiscard]] inline Error current_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error::out_of_host_memory();
  } catch (const std::length_error&) {
    return Error::out_of_host_memory();
  } catch (const std::exception& exception) {
    try {
      return {ErrorCode::internal, std::string("something unforeseen fails inside the library: ") + exception.what()};
    } catch (...) {
      return Error::out_of_host_memory();
    }
  } catch (...) {
    return {ErrorCode::internal, "something that is no std::exception is thrown inside the library"};
  }
}

/// Runs the body of a public function.
template <class Body>
decltype(auto) at_boundary(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw current_error();
  }
}

}  // namespace tessera::detail
