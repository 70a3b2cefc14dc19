// How much one launch takes, and the shape of one whose work-items stand in a line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "backend/variant.h"
#include "mathematics/division.h"
#include "opencl_kernel.h"

namespace tessera::opencl {

using mathematics::ceil_div;

/// The most work-groups that one launch is trusted with: the first extent of a grid on NVIDIA holds no more.
inline constexpr std::uint64_t kMaxGroups = 2147483647;

/// Yes unless that is not enough. `with` begins the reason: "gemm with tile = 4".
[[nodiscard]] inline backend::Verdict check_groups(const std::string& with, std::uint64_t groups) {
  if (groups <= kMaxGroups) return backend::Verdict::yes();
  return backend::Verdict::no(with + " needs " + std::to_string(groups) + " work-groups, but one launch takes " +
                              std::to_string(kMaxGroups) + " at most");
}

/// Workspace beyond which a run is cut into pieces instead, unless the least piece needs more.
inline constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{64} << 20U;

/// Work-items of a group of a line.
inline constexpr std::uint64_t kLineGroup = 64;

/// At least `items` work-items in a line, in groups that the kernel allows. The kernel leaves out those behind the
/// last.
[[nodiscard]] inline NdRange line_of(const CompiledKernel& kernel, std::uint64_t items) {
  const std::uint64_t group = std::min<std::uint64_t>(kLineGroup, kernel.max_group_size());
  return {1, {(items + group - 1) / group * group, 1, 1}, {group, 1, 1}};
}

}  // namespace tessera::opencl
