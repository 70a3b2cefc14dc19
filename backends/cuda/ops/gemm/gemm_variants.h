// The variants of gemm on CUDA.
#pragma once

#include <tessera/ops/gemm.h>

#include "backend/variant.h"

namespace tessera::cuda {

/// Best first.
[[nodiscard]] backend::VariantList<Gemm> gemm_variants();

}  // namespace tessera::cuda
