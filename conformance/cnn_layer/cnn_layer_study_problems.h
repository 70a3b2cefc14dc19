// The cases of cnn_layer's study: what `tessera bench cnn_layer --study` measures.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// The part of the study (Case::part()): the study's layer, and the same with fewer channels for what is slow.
inline constexpr std::string_view kCnnLayerStudyLayers = "layers";

void add_cnn_layer_study(std::vector<std::unique_ptr<Case>>& cases);

}  // namespace tessera::conformance
