// The problem set of denoise.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet denoise_problem_set();

}  // namespace tessera::conformance
