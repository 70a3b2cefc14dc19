// The study of gemm: four ways of multiplying, from plain loops to tiles, and the libraries beside them.
#pragma once

#include "tools/study/study.h"

namespace tessera::tool {

[[nodiscard]] Study gemm_study();

}  // namespace tessera::tool
