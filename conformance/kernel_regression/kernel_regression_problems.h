// The problem set of kernel_regression: every case, and the study's, which another file lists.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet kernel_regression_problem_set();

/// What `tessera bench kernel_regression --study` measures.
void add_regression_study(std::vector<std::unique_ptr<Case>>& cases);

/// Parts of the study (Case::part()): every version on the study's data; one size after the other.
inline constexpr std::string_view kRegressionStudyVersions = "versions";
inline constexpr std::string_view kRegressionStudyQueries = "queries";
inline constexpr std::string_view kRegressionStudyRows = "rows";

}  // namespace tessera::conformance
