// The study of conv2d: three versions for a CPU over threads, and tiles for a GPU.
#pragma once

#include "tools/study/study.h"

namespace tessera::tool {

[[nodiscard]] Study conv2d_study();

}  // namespace tessera::tool
