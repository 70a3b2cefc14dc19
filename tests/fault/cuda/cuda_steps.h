// What the CUDA backend alone has for a sweep to walk through: copies in several pieces of the staging memory,
// operators of one and of several launches, tables of kernels.
#pragma once

#include "fault/scenario.h"

namespace tessera::fault {

/// The scenario for cuda:0, on a real card or on the fake one, which computes fills and the plain gemm alone.
[[nodiscard]] ScenarioOptions cuda_scenario();

}  // namespace tessera::fault
