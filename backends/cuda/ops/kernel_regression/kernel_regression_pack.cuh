// kernel_regression by tiles: what the kernels that pack rows, a warp a row, have in common.
#pragma once

#include <climits>
#include <cmath>
#include <type_traits>

#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

/// Of a row that has no part, or is not there.
template <class Length>
__device__ __forceinline__ Length no_length() {
  if constexpr (std::is_integral_v<Length>) {
    return INT_MAX;
  } else {
    return INFINITY;
  }
}

/// What all lanes have, added in a fixed order; every lane gets it.
template <class Length>
__device__ __forceinline__ Length sum_of_lanes(Length mine) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffU, mine, apart);
  return mine;
}

}  // namespace tessera::cuda
