// The problem set of conv2d: every case, and the variants that each backend must offer.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet conv2d_problem_set();

}  // namespace tessera::conformance
