// A queue in a trace: one line, on which its commands stand by the times of two events each.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "device_track.h"

namespace tessera::detail {

/// Used under the lock of its queue.
class QueueTrack {
 public:
  QueueTrack(std::shared_ptr<DeviceTrack> device, std::string_view name);
  QueueTrack(const QueueTrack&) = delete;
  QueueTrack& operator=(const QueueTrack&) = delete;
  ~QueueTrack() = default;

  [[nodiscard]] const std::shared_ptr<DeviceTrack>& device() const noexcept { return device_; }

  /// Before a command is queued. `arguments` as in TraceSpan.
  void begin(backend::Queue& queue, std::string name, const char* category, std::string arguments) noexcept;
  /// After that: the driver has taken it, or not.
  void end(backend::Queue& queue, bool has_taken) noexcept;
  /// Writes what has ended. Never waits.
  void collect() noexcept;
  /// Leaves what the driver made to the process that made it.
  void abandon() noexcept;

 private:
  struct Pending {
    std::string name;
    const char* category = "";
    std::string arguments;
    std::int64_t begin_ns = 0;  ///< of the host's call that queued it
    std::int64_t end_ns = 0;
    std::unique_ptr<backend::Event> begin;  ///< null where the driver gave none
    std::unique_ptr<backend::Event> end;
  };

  /// Writes a command that has ended.
  void write(const Pending& command) noexcept;

  const std::shared_ptr<DeviceTrack> device_;
  const TraceLine line_;
  std::optional<Pending> beginning_;
  std::deque<Pending> pending_;
  std::int64_t last_end_ns_ = 0;  ///< commands of a queue follow each other: rounded times must not say otherwise
  bool is_too_long_ = false;
};

}  // namespace tessera::detail
