// What the main() of every program here does: runs it, and turns each kind of failure into one line and an exit code.
#include "tools/process/run_program.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <fmt/format.h>
#include <tessera/error.h>
#include <tessera/trace.h>

#include "tools/command.h"
#include "tools/process/interrupt.h"
#include "tools/process/standard_streams.h"

namespace tessera::tool {
namespace {

/// The library's error as one line; a compiler's log follows it whole, because nobody can do without.
void report(const char* name, const Error& error) {
  std::string line = fmt::format("{}: {}: {}", name, to_string(error.code()), error.sentence());
  if (!error.native().text.empty()) line += fmt::format(" [{} = {}]", error.native().text, error.native().code);
  if (!error.doing().empty()) {
    std::string doing = error.doing();
    for (char& letter : doing) {
      if (letter == '\n') letter = ';';
    }
    line += fmt::format(" (while {})", doing);
  }
  std::cerr << line << "\n";
  if (!error.log().empty()) std::cerr << error.log() << "\n";
}

/// What a process does at its usual end.
void end_trace() {
  try {
    stop_trace();
  } catch (const Error&) {
    // The exit code says what is worse.
  }
}

}  // namespace

int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv)) {
  open_closed_streams();
  try {
    listen_for_interrupt();
    const int code = run(argc, argv);
    finish_standard_output();
    return code;
  } catch (const Interrupted&) {
    std::cerr << name << ": interrupted by " << interrupting_signal() << "\n";
    // What was to be cleaned up is: the exception has passed through all of it.
    if (is_device_work_abandoned()) {
      std::cout.flush();
      end_trace();
      std::_Exit(interrupt_exit_code());
    }
    return interrupt_exit_code();
  } catch (const Error& error) {
    report(name, error);
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": there is no memory left\n";
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
  } catch (...) {
    std::cerr << name << ": something is thrown that is no std::exception\n";
  }
  return kExitFailure;
}

}  // namespace tessera::tool
