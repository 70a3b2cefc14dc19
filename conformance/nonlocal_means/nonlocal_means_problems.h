// The problem set of nonlocal_means.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet nonlocal_means_problem_set();

}  // namespace tessera::conformance
