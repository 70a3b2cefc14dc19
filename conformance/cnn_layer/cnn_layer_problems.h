// The problem set of cnn_layer: every case, and the variants that each backend must offer.
#pragma once

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet cnn_layer_problem_set();

}  // namespace tessera::conformance
