// Parts of sums, each of groups of its own, that the last group of each block adds up: see joined_parts.cl. It saves a
// launch, which takes longer than many a small product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl_facts.h"
#include "opencl_kernel.h"
#include "opencl_program.h"

namespace tessera::opencl {

/// Local memory by which a group tells its work-items that it comes last.
inline constexpr std::uint64_t kJointBytes = sizeof(cl_int);

/// Elements of the workspace that so many parts of `blocks` blocks take; 0 where they are not joined: for there is one
/// part alone, the device has no fences for it, or there are too many blocks for a queue's counters or for a workspace.
[[nodiscard]] std::size_t elements_of_joined_parts(const DeviceFacts& facts, std::uint64_t blocks, std::int64_t parts,
                                                   std::int64_t elements_of_block, DataType type);

/// Has the program's groups join parts.
void join_parts(ProgramSource& source, const DeviceFacts& facts);

/// What its kernel takes behind its other memory: where the parts lie, and counters.
void add_joint(std::vector<MemoryArgument>& memory, DataType type);

}  // namespace tessera::opencl
