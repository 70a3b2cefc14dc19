// Prepared weights: their memory, and the kernel that they were prepared for.
#pragma once

#include <tessera/prepared_weights.h>

#include <memory>
#include <string>
#include <utility>

#include "device_core.h"
#include "kernel_core.h"

namespace tessera::detail {

class PreparedCore {
 public:
  /// `problem_key` is the traits' key of the kernel's problem.
  PreparedCore(UntypedView memory, std::shared_ptr<KernelCore> kernel, std::string problem_key)
      : memory_(std::move(memory)), kernel_(std::move(kernel)), problem_key_(std::move(problem_key)) {}

  [[nodiscard]] const UntypedView& memory() const noexcept { return memory_; }
  [[nodiscard]] const std::shared_ptr<KernelCore>& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const std::string& problem_key() const noexcept { return problem_key_; }

 private:
  UntypedView memory_;
  std::shared_ptr<KernelCore> kernel_;
  std::string problem_key_;
};

/// Throws invalid_argument, naming both kernels, unless the weights were prepared for one of the same problem, variant
/// and tuning on the same opened device. `problem_key` is of `kernel`'s problem.
void check_prepared(const PreparedCore& prepared, const KernelCore& kernel, const std::string& problem_key);

/// Memory for prepared weights: `size_bytes` on the kernel's device.
[[nodiscard]] UntypedView allocate_prepared(const KernelCore& kernel, std::size_t size_bytes);

}  // namespace tessera::detail
