// The cases of gemm's study: what `tessera bench gemm --study` measures.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// The parts of the study (Case::part()).
inline constexpr std::string_view kGemmStudyShapes = "shapes";        ///< every m, n, k of a few sizes
inline constexpr std::string_view kGemmStudyTransfers = "transfers";  ///< squares, small to large

void add_gemm_study(std::vector<std::unique_ptr<Case>>& cases);

}  // namespace tessera::conformance
