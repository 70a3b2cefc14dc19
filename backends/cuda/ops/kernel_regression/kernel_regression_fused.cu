// kernel_regression, fused: the kernel of one type and one tile, TESSERA_TILE_M queries x TESSERA_TILE_N training rows,
// which the build gives: an image a shape. How a tile is computed: kernel_regression_fused.cuh.
//
//   type      tile        warps
//   float32   128 x 128   2 x 2 of 64 x 64   a thread holds 8 x 16 products
//              64 x 128   2 x 2 of 32 x 64   8 x 8
//              32 x 128   1 x 4 of 32 x 32   4 x 8
//   float64   128 x  64   2 x 2 of 64 x 32   by the tensor cores from sm_80 on
//             112 x  64   1 x 4 of 112 x 16
//              64 x  64   2 x 2 of 32 x 32
//              32 x  64   1 x 4 of 32 x 16
#include "ops/kernel_regression/kernel_regression_fused.cuh"

namespace tessera::cuda {
constexpr GemmRegisterShape kShape = regression_shape<TESSERA_TYPE>(TESSERA_TILE_M, TESSERA_TILE_N);
}  // namespace tessera::cuda

#define TESSERA_REGRESSION_FUSED(name)                                                                              \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kShape.threads(), tessera::cuda::kShape.blocks)       \
      tessera_kernel_regression_fused_##name(                                                                       \
          const __grid_constant__ tessera::cuda::RegressionTileArguments<tessera::cuda::TESSERA_TYPE> regression) { \
    tessera::cuda::regress_fused<tessera::cuda::TESSERA_TYPE, tessera::cuda::kShape>(regression);                   \
  }
#define TESSERA_NAMED(type, queries, rows) TESSERA_REGRESSION_FUSED(type##_##queries##x##rows)
#define TESSERA_OF_SHAPE(type, queries, rows) TESSERA_NAMED(type, queries, rows)  // their values, not their names

TESSERA_OF_SHAPE(TESSERA_TYPE, TESSERA_TILE_M, TESSERA_TILE_N)
