// Cases of gemm around the edges of large tiles and long sums.
#pragma once

#include <memory>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// Sizes that straddle register tiles and work-groups' tiles up to 256, steps along k, sums long enough to be split
/// over groups; layouts that wide loads must not assume; infinities and NaN in the last row, column and step.
void add_gemm_edges(std::vector<std::unique_ptr<Case>>& cases, DataType type);

}  // namespace tessera::conformance
