// Kernel: the public face of KernelCore.
#include <tessera/kernel.h>
#include <tessera/own_kernel.h>

#include "kernel_core.h"

namespace tessera {

const KernelInfo& Kernel::info() const noexcept {
  return core_->info();
}
const OwnKernelLimits& OwnKernel::limits() const noexcept {
  return core()->limits();
}
const std::vector<Parameter>& OwnKernel::parameters() const noexcept {
  return core()->parameters();
}

}  // namespace tessera
