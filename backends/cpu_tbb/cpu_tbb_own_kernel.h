// A program's own kernel on the CPU: its C++ function, called once per work-group, groups spread over the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"

namespace tessera::cpu_tbb {

/// Work-items of a group. A CPU function loops over them itself, so nothing but portability asks for a limit; this is
/// what other drivers give to a CPU.
inline constexpr std::uint64_t kMaxGroupSize = 4096;

/// Local memory of a group: it stays within one core's second-level cache.
inline constexpr std::uint64_t kLocalMemoryBytes = std::uint64_t{1} << 20;

class CpuTbbOwnKernel final : public backend::OwnKernel {
 public:
  /// Error unsupported if there is no CPU function, invalid_argument if its parameters are not the declared ones.
  explicit CpuTbbOwnKernel(const KernelSource& source);

  [[nodiscard]] OwnKernelLimits limits() const override;
  void launch(backend::Queue& queue, const LaunchShape& shape, std::span<const backend::Argument> arguments) override;

 private:
  struct Program {
    std::string description;  ///< "the CPU function of kernel 'saxpy'"
    CpuFunction function;
  };
  struct Launch;

  std::shared_ptr<const Program> program_;  // shared with the commands that are queued
};

}  // namespace tessera::cpu_tbb
