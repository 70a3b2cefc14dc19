// The problem set of patch_match.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet patch_match_problem_set();

}  // namespace tessera::conformance
