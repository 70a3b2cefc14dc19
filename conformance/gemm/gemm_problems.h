// The problem set of gemm: every case, and the parts that other files list.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet gemm_problem_set();

/// Sizes that straddle register tiles and work-groups' tiles up to 256, steps along k, sums long enough to be split
/// over groups; layouts that wide loads must not assume; infinities and NaN in the last row, column and step.
void add_gemm_edges(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// Rows of A and of B that suit copies of unlike width.
void add_gemm_unlike_rows(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// Short sums, whose C is most of the work, in rows that begin anywhere.
void add_gemm_short_sums(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// Operands that may be read where they lie, and results that may be computed as their transposes.
void add_gemm_in_place(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// What `tessera bench gemm --study` measures.
void add_gemm_study(std::vector<std::unique_ptr<Case>>& cases);

/// The parts of the study (Case::part()).
inline constexpr std::string_view kGemmStudyShapes = "shapes";        ///< every m, n, k of a few sizes
inline constexpr std::string_view kGemmStudyTransfers = "transfers";  ///< squares, small to large
inline constexpr std::string_view kGemmStudyBlocks = "blocks";        ///< the largest shape, block after block
/// Squares with data of both signs and of one, as `accurate` and as `fast`: what speed costs in error.
inline constexpr std::string_view kGemmStudyPrecision = "precision";

}  // namespace tessera::conformance
