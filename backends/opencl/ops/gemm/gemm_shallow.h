// gemm, shallow: what it is expected to take.
#pragma once

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// In microseconds, with the tile that is expected to be fastest; infinity for sums that it does not take.
[[nodiscard]] double gemm_shallow_microseconds(const Gemm& computed, const DeviceFacts& facts);

}  // namespace tessera::opencl
