// Checks an own kernel's declared parameters against those that the compiler saw.
#pragma once

#include <vector>

#include <tessera/own_kernel.h>

#include "opencl_kernel.h"

namespace tessera::opencl {

/// Throws invalid_argument, naming the parameter, unless count, kinds and types agree. Kinds and types are checked as
/// far as the driver tells them: it always tells the count.
void check_signature(const CompiledKernel& kernel, const std::vector<Parameter>& declared);

}  // namespace tessera::opencl
