// Standard input, output and error by their descriptors.
#include "tools/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one: those below are open by now.
    static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

void finish_standard_output() {
  errno = 0;
  std::cout.flush();
  bool whole = std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  // A file system over a network may tell only when a descriptor is closed.
  if (const int copy = whole ? ::dup(STDOUT_FILENO) : -1; copy >= 0) whole = ::close(copy) == 0;
  if (whole) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("standard output cannot be written: {}",
                          errno != 0 ? std::strerror(errno) : "something is missing in it"));
}

}  // namespace tessera::tool
