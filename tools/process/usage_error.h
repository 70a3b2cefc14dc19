// Wrong use of the program: one line for standard error, exit code 2.
#pragma once

#include <stdexcept>

namespace tessera::tool {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tessera::tool
