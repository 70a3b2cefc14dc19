// The problem set of kernel_regression.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet kernel_regression_problem_set();

}  // namespace tessera::conformance
