// The problem set of cnn_layer: every case, and the parts that other files list.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] ProblemSet cnn_layer_problem_set();

/// What the operands hold, in place of what shape they have: infinities and NaN, outliers, pictures.
void add_cnn_layer_values(std::vector<std::unique_ptr<Case>>& cases, DataType type);

/// What `tessera bench cnn_layer --study` measures.
void add_cnn_layer_study(std::vector<std::unique_ptr<Case>>& cases);

/// The parts of the study (Case::part()): the study's layer, and the same with fewer channels for what is slow; its
/// switches and groups on the smallest and on its own; and one thread on its own, which takes minutes.
inline constexpr std::string_view kCnnLayerStudyLayers = "layers";
inline constexpr std::string_view kCnnLayerStudyFindings = "findings";
inline constexpr std::string_view kCnnLayerStudySequential = "sequential";

}  // namespace tessera::conformance
