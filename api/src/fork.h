// What a child process of fork() must know: that the threads and the driver behind an opened device stayed in its
// parent.
#pragma once

#include <atomic>
#include <cstdint>

namespace tessera::detail {

/// How often this process is a child of fork(), counted from the first opened device on: 0 in the process that opened
/// it, 1 in its child.
[[nodiscard]] std::uint64_t fork_depth() noexcept;
/// Sees to it that forks are counted from now on. Called from any thread.
void count_forks();

/// The process in which an object was made.
class Birthplace {
 public:
  /// True in a child process: nothing behind the object may be called, and nothing destroyed.
  [[nodiscard]] bool is_elsewhere() const noexcept { return depth_ != fork_depth(); }

 private:
  std::uint64_t depth_ = fork_depth();
};

}  // namespace tessera::detail
