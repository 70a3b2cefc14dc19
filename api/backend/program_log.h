// What backends tell of the programs that they compile: for the log, for the trace, and for profilers. The front half
// sees only that a kernel was made, not what of it was compiled and what was found.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include <tessera/export.h>

namespace tessera::backend {

/// Where a program came from.
enum class ProgramOrigin : std::uint8_t {
  compiler,    ///< it was compiled now
  disk_cache,  ///< an earlier process compiled it, and the DiskCache kept it
  library,     ///< it was compiled together with the plug-in, and is loaded now
};

/// Stands around the getting of one program, on the thread that makes the kernel: its time is from here to came_from().
/// Not around the finding of one that this process has already.
/// Where nobody listens it costs a look. Used or not used, a backend is right.
class TESSERA_API ProgramLog {
 public:
  /// `name` is read by came_from(), too.
  explicit ProgramLog(std::string_view name) noexcept;
  /// The program is there. To be called once; not at all if there is none.
  void came_from(ProgramOrigin origin) const noexcept;

 private:
  std::string_view name_;
  bool is_heard_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tessera::backend
