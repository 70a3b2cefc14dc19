// One walk through all that the CUDA backend's host code does: queues, copies of every kind, fills, events, operators
// of one and of several launches, tables of kernels, own kernels, shortage and reuse of memory.
#pragma once

#include <string>

namespace tessera::fault {

struct Outcome {
  int right = 0;
  int errors = 0;       ///< steps that threw tessera::Error
  std::string wrong{};  ///< what was neither right nor such an error; "" if nothing
  std::string first_error{};
};

/// Opens cuda:0 and lets go of everything at its end. Never throws.
[[nodiscard]] Outcome walk();

}  // namespace tessera::fault
