// A child process by fork(), for tests of what it may do with what its parent opened.
#pragma once

#include <sys/wait.h>
#include <tessera/error.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace tessera::testing_support {

/// Forks, runs `body` in the child, and returns the child's exit status; -1 if a signal ended it, such as that of its
/// alarm clock, which gives it half a minute.
inline int status_of_fork(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Does the call throw that what it uses was made before the fork?
inline bool says_fork(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == ErrorCode::unavailable && error.sentence().find("before fork()") != std::string::npos;
  }
  return false;
}

}  // namespace tessera::testing_support
