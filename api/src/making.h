// Around whatever may get programs: for which device that is, and what came of each, told when no lock is held any more.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/program_log.h"
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

  /// What was noted so far goes to the log. The caller holds no lock.
  void tell_programs() noexcept;

  struct Program {
    std::string name;
    backend::ProgramOrigin origin = backend::ProgramOrigin::compiler;
    double seconds = 0;
  };
  void note(Program&& program) { programs_.push_back(std::move(program)); }
  /// The innermost of the calling thread, or null.
  [[nodiscard]] static Making* current() noexcept;

 private:
  const std::string& device_;
  Making* const outer_;
  std::vector<Program> programs_;
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
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tessera::detail
