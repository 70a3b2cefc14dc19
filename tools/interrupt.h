// Ctrl-C: the first one asks the program to end after the command that runs, the second one ends it at once.
#pragma once

#include <exception>

namespace tessera::tool {

/// Thrown where long work can stop.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

void listen_for_interrupt();
[[nodiscard]] bool is_interrupted() noexcept;
/// Throws Interrupted if Ctrl-C was pressed.
void stop_if_interrupted();

}  // namespace tessera::tool
