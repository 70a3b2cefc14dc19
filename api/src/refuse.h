// Wrong arguments are refused in one way.
#pragma once

#include <string>

#include <tessera/error.h>

namespace tessera::detail {

[[noreturn]] inline void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

}  // namespace tessera::detail
