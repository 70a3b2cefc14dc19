// Says whether parts are joined, and what that takes.
#include "ops/joined_parts.h"

#include <string_view>

#include "opencl_launch_shape.h"
#include "opencl_queue.h"

namespace tessera::opencl {

std::size_t elements_of_joined_parts(const DeviceFacts& facts, std::uint64_t blocks, std::int64_t parts,
                                     std::int64_t elements_of_block, DataType type) {
  if (parts <= 1 || blocks == 0 || blocks > OpenclQueue::kCounters || !facts.has_device_fences) return 0;
  const std::uint64_t most = kMostWorkspaceBytes / size_bytes(type) / static_cast<std::uint64_t>(elements_of_block);
  if (static_cast<std::uint64_t>(parts) > most / blocks) return 0;
  return blocks * static_cast<std::uint64_t>(parts) * static_cast<std::uint64_t>(elements_of_block);
}

void join_parts(ProgramSource& source, const DeviceFacts& facts) {
  source.options += " -DJOINED=1";
  if (facts.is_nvidia) return;  // its OpenCL C 1.2 takes the instruction
  // Fences that reach the device came with OpenCL C 2.0.
  constexpr std::string_view kOld = "-cl-std=CL1.2";
  if (const std::size_t at = source.options.find(kOld); at != std::string::npos) {
    source.options.replace(at, kOld.size(), "-cl-std=CL3.0");
  }
}

void add_joint(std::vector<MemoryArgument>& memory, DataType type) {
  memory.push_back({.place = MemoryArgument::kWorkspace, .type = type});
  memory.push_back({.place = MemoryArgument::kCounters});
}

}  // namespace tessera::opencl
