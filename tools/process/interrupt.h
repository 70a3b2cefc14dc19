// Being asked to end: by Ctrl-C (SIGINT), by the system (SIGTERM), or because the terminal went (SIGHUP). The first
// time the program ends after the command that runs, and leaves nothing behind that is not whole; a second signal of
// the same kind, half a second later or more, ends it at once.
#pragma once

#include <exception>

namespace tessera::tool {

/// Thrown where long work can stop.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Whoever waits for something that a signal does not end looks for one so often.
constexpr int kLookForInterruptMs = 200;

/// To be called before there are other threads: they inherit that it blocks the signals. A SIGHUP that is ignored
/// (nohup) stays ignored. A signal that comes twice at once counts as one: coreutils' timeout sends it to the program
/// and to its process group.
void listen_for_interrupt();
[[nodiscard]] bool is_interrupted() noexcept;
/// Throws Interrupted if a signal came.
void stop_if_interrupted();
/// Says that a device computes on what is never given back, because nobody waits for it any more: the process must end
/// without its usual farewells, which would wait.
void abandon_device_work() noexcept;
[[nodiscard]] bool is_device_work_abandoned() noexcept;
/// The signal that came first: "SIGTERM"; "" if none did.
[[nodiscard]] const char* interrupting_signal() noexcept;
/// 128 and the number of that signal, as shells count: 130 for Ctrl-C.
[[nodiscard]] int interrupt_exit_code() noexcept;

}  // namespace tessera::tool
