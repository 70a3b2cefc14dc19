// What the log, the trace and a profiler are told of one command. Made only where somebody watches.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "command.h"
#include "host_span.h"
#include "making.h"
#include "queue_track.h"

namespace tessera::detail {

class DeviceCore;
class KernelCore;

class CommandWatch {
 public:
  /// `label` is the queue's, and lives as long as this, as the device does. `track` is null where no trace is written.
  CommandWatch(const DeviceCore& device, const std::string& label, QueueTrack* track, backend::Queue& queue,
               const Command& command, const KernelCore* kernel);
  /// The driver has taken the command, or not. Still under the queue's lock.
  void queued(backend::Queue& queue, bool has_taken) noexcept;
  /// The call is over. Without the lock.
  void tell() noexcept;

 private:
  const DeviceCore& device_;
  const std::string& label_;
  QueueTrack* const track_;
  const CommandKind kind_;
  const std::size_t size_bytes_;
  bool has_taken_ = false;
  std::optional<HostSpan> span_;
  Making making_;
};

}  // namespace tessera::detail
