// The study of cnn_layer: every variant on the published study's layer, its findings switched on and off, and its table
// of work-groups and work-items.
#pragma once

#include "tools/study/study.h"

namespace tessera::tool {

[[nodiscard]] Study cnn_layer_study();

}  // namespace tessera::tool
