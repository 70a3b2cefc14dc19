// The work-group of an operator's plainest kernel: one work-item an element of the result, rows of 32 beside each
// other.
#pragma once

#include <cstdint>

#include "opencl_facts.h"
#include "opencl_kernel.h"

namespace tessera::opencl {

struct PlainGroup {
  std::int64_t rows = 8;
  std::int64_t columns = 32;
};

/// The smallest group that a kernel on this device may come down to: what its limits must allow for.
[[nodiscard]] PlainGroup smallest_plain_group(const DeviceFacts& facts) noexcept;

/// 8 rows of 32 work-items, halved, rows first, until a group is what the compiled kernel can take.
[[nodiscard]] PlainGroup plain_group(const CompiledKernel& kernel, const DeviceFacts& facts);

}  // namespace tessera::opencl
