// What the main() of every program here does: runs it, and turns each kind of failure into one line and an exit code.
#pragma once

namespace tessera::tool {

/// Calls `run(argc, argv)` and returns its exit code, or that of what it throws, told on standard error as "NAME: ...".
/// SIGINT (Ctrl-C), SIGTERM and SIGHUP end the program in an orderly way. A standard output that does not take all that
/// was written to it is a failure. Called first in main(), because it opens streams that are closed.
[[nodiscard]] int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv));

}  // namespace tessera::tool
