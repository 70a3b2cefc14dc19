// The halving.
#include "ops/plain_group.h"

namespace tessera::opencl {

PlainGroup smallest_plain_group(const DeviceFacts& facts) noexcept {
  const PlainGroup whole;
  // One work-item a group is the smallest that a device may insist on.
  if (facts.info.max_group_size < static_cast<std::uint64_t>(whole.rows * whole.columns)) return {1, 1};
  return whole;
}

PlainGroup plain_group(const CompiledKernel& kernel, const DeviceFacts& facts) {
  const auto limit = static_cast<std::int64_t>(kernel.max_group_size());
  const auto row_limit = static_cast<std::int64_t>(facts.info.max_group_extent[1]);
  PlainGroup group;
  while (group.rows > 1 && (group.rows * group.columns > limit || group.rows > row_limit)) group.rows /= 2;
  while (group.columns > 1 && group.columns > limit) group.columns /= 2;
  return group;
}

}  // namespace tessera::opencl
