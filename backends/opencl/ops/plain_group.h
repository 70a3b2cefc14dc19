// The work-group of an operator's plainest kernel: one work-item an element of the result. Its shape is a pair of
// tunables; preferred are rows of 32 beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <tessera/kernel.h>

#include "opencl_facts.h"
#include "opencl_kernel.h"

namespace tessera::opencl {

struct PlainGroup {
  std::int64_t rows = 8;
  std::int64_t columns = 32;
};

/// The smallest group that a kernel on this device may come down to: what its limits must allow for.
[[nodiscard]] PlainGroup smallest_plain_group(const DeviceFacts& facts) noexcept;

/// `block_columns` and `block_rows`: the preferred group, and squares of these edges that the device takes groups of
/// and that `fits` takes. `whole`: what is cut into blocks, for the tunables' meaning.
[[nodiscard]] std::vector<Tunable> plain_group_tunables(const DeviceFacts& facts,
                                                        std::initializer_list<std::int64_t> edges,
                                                        const std::string& whole,
                                                        const std::function<bool(const PlainGroup&)>& fits);

/// What the tuning says.
[[nodiscard]] PlainGroup plain_group(const Tuning& tuning);

/// The group, `columns` being its first extent, halved, rows first, until it is what the compiled kernel can take.
[[nodiscard]] PlainGroup shrunk(PlainGroup group, const CompiledKernel& kernel, const DeviceFacts& facts);

}  // namespace tessera::opencl
