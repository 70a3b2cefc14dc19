// Kernel: the public face of KernelCore.
#include <tessera/kernel.h>
#include <tessera/own_kernel.h>

#include "core_of.h"
#include "kernel_core.h"

namespace tessera {

const KernelInfo& Kernel::info() const {
  return detail::core_of(core_, "kernel").info();
}
const OwnKernelLimits& OwnKernel::limits() const {
  return detail::core_of(core(), "kernel").limits();
}
const std::vector<Parameter>& OwnKernel::parameters() const {
  return detail::core_of(core(), "kernel").parameters();
}

}  // namespace tessera
