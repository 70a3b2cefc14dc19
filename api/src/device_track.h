// A device in a trace: under which its queues stand, and how its clock's times become the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "trace.h"

namespace tessera::detail {

/// Of one opening of a device in one trace. Called from several threads at once. Goes before the device does.
class DeviceTrack {
 public:
  DeviceTrack(std::shared_ptr<Trace> trace, backend::Device& device, std::string_view name);
  DeviceTrack(const DeviceTrack&) = delete;
  DeviceTrack& operator=(const DeviceTrack&) = delete;
  ~DeviceTrack();

  [[nodiscard]] const std::shared_ptr<Trace>& trace() const noexcept { return trace_; }
  /// A line for one of its queues.
  [[nodiscard]] TraceLine add_line(std::string_view name) { return trace_->add_line(process_, name); }

  /// When the event, which is done, was passed, in the trace's time; nothing if the device does not tell.
  [[nodiscard]] std::optional<std::int64_t> ns_of(backend::Event& event) noexcept;
  /// Compares the clocks again if that was more than a second ago: they drift apart, and a driver may count in numbers
  /// with few digits. Waits for a queue of its own, so that nothing should run on the device.
  void renew_clock() noexcept;
  /// Leaves what the driver made to the process that made it.
  void abandon() noexcept;

 private:
  void compare_clocks();

  const std::shared_ptr<Trace> trace_;
  const int process_;
  std::mutex mutex_;
  std::unique_ptr<backend::Queue> queue_;   ///< null where the device gives none
  std::unique_ptr<backend::Event> origin_;  ///< of that queue
  std::int64_t origin_ns_ = 0;              ///< when it was passed
  std::int64_t compared_ns_ = 0;
};

}  // namespace tessera::detail
