// The problem set of patch_match: every case, and the study's, which another file lists.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet patch_match_problem_set();

/// What `tessera bench patch_match --study` measures.
void add_patch_study(std::vector<std::unique_ptr<Case>>& cases);

/// Parts of the study (Case::part()): every variant on the reference volume; one window or stack after the other.
inline constexpr std::string_view kPatchStudyVersions = "versions";
inline constexpr std::string_view kPatchStudyWindows = "windows";
inline constexpr std::string_view kPatchStudyStacks = "stacks";

}  // namespace tessera::conformance
