// Around whatever may get programs: for which device that is, and what the log is told of it when no lock is held any
// more.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/log.h>

#include "host_span.h"

namespace tessera::detail {

/// On one thread, from its making to its end; may stand inside another one. Backends' ProgramLog finds it.
class Making {
 public:
  /// `device` is the id, which lives as long as this.
  explicit Making(const std::string& device) noexcept;
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  ~Making();

  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  /// To be told later.
  void note(LogEvent&& event) { events_.push_back(std::move(event)); }
  /// What was noted so far goes to the log. The caller holds no lock.
  void tell_noted() noexcept;
  /// The innermost of the calling thread, or null.
  [[nodiscard]] static Making* current() noexcept;

 private:
  const std::string& device_;
  Making* const outer_;
  std::vector<LogEvent> events_;
};

/// Around the making of one kernel: its programs, its time, and the host's span.
class KernelMaking {
 public:
  KernelMaking(const std::string& device, std::string_view what);
  /// The kernel is there; `description` is its KernelCore's.
  void made(const std::string& description) noexcept;

 private:
  const std::string& device_;
  std::optional<HostSpan> span_;
  Making making_;
  std::optional<std::chrono::steady_clock::time_point> start_;  ///< nothing if the log does not want to know
};

}  // namespace tessera::detail
