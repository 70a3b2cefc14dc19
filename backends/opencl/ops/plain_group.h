// The work-group of an operator's plainest kernel: one work-item an element of the result. Its shape is a pair of
// tunables; preferred are rows of 32 beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <tessera/kernel.h>

#include "opencl_facts.h"
#include "opencl_kernel.h"

namespace tessera::opencl {

struct PlainGroup {
  std::int64_t rows = 8;
  std::int64_t columns = 32;

  friend bool operator==(const PlainGroup&, const PlainGroup&) = default;
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

/// A kernel and the group that it is compiled for, `columns` being its first extent.
struct PlainKernel {
  std::unique_ptr<CompiledKernel> kernel;
  PlainGroup group;
};
/// Compiles with these options more: GROUP_X and GROUP_Y, the extents of the group.
using CompilePlain = std::function<std::unique_ptr<CompiledKernel>(const std::string& options)>;

/// Compiled for this group or, where the device or the compiled kernel takes no such, for one that is halved, rows
/// first, until it is taken. A driver that is not told a group's size may leave registers for a smaller one alone.
[[nodiscard]] PlainKernel compile_plain(PlainGroup group, const DeviceFacts& facts, const CompilePlain& compile);

/// Is the group taken as it is? Small ones are trusted to the device's own limits; of others the compiled kernel is
/// asked.
[[nodiscard]] bool is_taken_whole(const PlainGroup& group, const DeviceFacts& facts, const CompilePlain& compile);

}  // namespace tessera::opencl
