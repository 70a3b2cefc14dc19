// The log: what the library does, event by event: which variant was chosen and why, what was compiled or found in the
// cache, what was copied, what memory was taken. $TESSERA_LOG=choice,copy writes it to standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tessera/export.h>

namespace tessera {

/// What an event of the log is about; several are joined by |.
enum class LogKind : std::uint8_t {
  choice = 1,   ///< which variant a problem gets, and why
  compile = 2,  ///< kernels that were made, and the programs that were compiled for them or found compiled
  copy = 4,     ///< uploads, downloads, and copies on a device
  memory = 8,   ///< memory that was allocated and freed
  all = 15,
};
[[nodiscard]] constexpr LogKind operator|(LogKind one, LogKind other) noexcept {
  return static_cast<LogKind>(static_cast<std::uint8_t>(one) | static_cast<std::uint8_t>(other));
}
/// The word of one kind, as $TESSERA_LOG has it: "choice".
[[nodiscard]] TESSERA_API std::string_view to_string(LogKind kind) noexcept;

/// What happened.
enum class LogAction : std::uint8_t {
  choose,    ///< choice: a variant was chosen, or taken because the options force it
  make,      ///< compile: a kernel is ready; its programs were told of before
  compile,   ///< compile: a program was compiled
  load,      ///< compile: a program was there compiled, in the cache on disk or in the library; told once a process
  upload,    ///< copy: from the host to the device was queued, or done where the call blocks
  download,  ///< copy: likewise from the device to the host
  copy,      ///< copy: likewise within the device
  allocate,  ///< memory: a buffer, a queue's workspace, pinned memory, or what a kernel holds for itself
  free,      ///< memory: the same, no longer held; the library may keep it for the next allocation
  reserve,   ///< memory: taken from the driver for buffers and workspaces
  release,   ///< memory: given back to the driver
};

/// One event. A copy between two devices is a download and an upload, in pieces.
struct LogEvent {
  LogKind kind = LogKind::choice;
  LogAction action = LogAction::choose;
  std::string device;            ///< "cuda:0"
  std::string subject;           ///< the variant; the kernel or program; the label of the queue or of the memory
  std::uint64_t size_bytes = 0;  ///< of copies and memory
  double seconds = 0;            ///< of kernels and programs: how long the making took
  std::string text;              ///< all of it as one line without an end
};

using LogFunction = std::function<void(const LogEvent&)>;

/// Calls `function` for every event of these kinds from now on, in place of the function that was set before; an empty
/// one ends that. What $TESSERA_LOG writes is written beside it.
///
/// The function is called on the thread on which it happens, which may be one of the library's own, and on several at
/// once. No lock is held: it may use the library, but must not wait for a queue. What it causes there it is not told
/// of. What it throws is dropped. When set_log() returns, the function before it runs nowhere any more; therefore
/// error invalid_argument if the function itself calls set_log(). A child process of fork() does not call it.
TESSERA_API void set_log(LogFunction function, LogKind kinds = LogKind::all);

}  // namespace tessera
