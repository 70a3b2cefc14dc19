// The problem set of gemm: every case, and the variants that each backend must offer.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet gemm_problem_set();

}  // namespace tessera::conformance
