// The cases of conv2d's study: what `tessera bench conv2d --study` measures.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// The parts of the study (Case::part()).
inline constexpr std::string_view kConv2dStudySizes = "sizes";  ///< int32, square images, the study's three filters
inline constexpr std::string_view kConv2dStudyTypes = "types";  ///< the largest image in float, and filters of rank 1

/// Rows and columns of the largest filter.
inline constexpr std::int64_t kConv2dStudyLargestFilter = 7;

void add_conv2d_study(std::vector<std::unique_ptr<Case>>& cases);

}  // namespace tessera::conformance
