// The problem set of conv2d: every case, and the parts that other files list.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet conv2d_problem_set();

/// Images so wide that a backend may read most of a row in place, and what lies at its edges apart.
void add_wide_conv2d(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// Filters past 7 x 7, and where those that are cut into segments and bands end.
void add_conv2d_filters(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// What `tessera bench conv2d --study` measures.
void add_conv2d_study(std::vector<std::unique_ptr<Case>>& cases);

/// The parts of the study (Case::part()).
inline constexpr std::string_view kConv2dStudySizes = "sizes";  ///< int32, square images, the study's three filters
inline constexpr std::string_view kConv2dStudyTypes = "types";  ///< the largest image in float, and filters of rank 1
inline constexpr std::string_view kConv2dStudyBlocks =
    "blocks";  ///< the largest image, the smallest and largest filter
inline constexpr std::string_view kConv2dStudyCurves = "curves";  ///< 3 x 3, border valid, every size: over threads

/// Rows and columns of the study's largest filter.
inline constexpr std::int64_t kConv2dStudyLargestFilter = 7;

}  // namespace tessera::conformance
