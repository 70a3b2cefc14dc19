// kernel_regression, exact_bytes: the kernel of one tile, TESSERA_TILE_M queries x TESSERA_TILE_N training rows, which
// the build gives: an image a shape. How a tile is computed: kernel_regression_exact_bytes.cuh.
//
//   tile        warps             shared memory                        for
//   128 x 128   2 x 2 of 64 x 64  3 stages of 128 bytes of 256 rows    many queries, two groups on a multiprocessor
//   256 x 128   4 x 2 of 64 x 64  3 stages of 128 bytes of 384 rows    the same, one group
//    64 x 128   2 x 2 of 32 x 64  4 stages of  64 bytes of 192 rows    fewer queries, and cards with less shared memory
//    32 x 128   1 x 4 of 32 x 32  6 stages of 128 bytes of 160 rows    a few; keeps a tile's distances
#include "ops/kernel_regression/kernel_regression_exact_bytes.cuh"

namespace tessera::cuda {
constexpr RegressionByteShape kShape = regression_byte_shape(TESSERA_TILE_M, TESSERA_TILE_N);
}  // namespace tessera::cuda

#define TESSERA_REGRESSION_BYTES(name)                                                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kShape.threads(), tessera::cuda::kShape.blocks) \
      tessera_kernel_regression_exact_bytes_##name(                                                           \
          const __grid_constant__ tessera::cuda::RegressionTileArguments<std::uint8_t> regression) {          \
    tessera::cuda::regress_bytes<tessera::cuda::kShape>(regression);                                          \
  }
#define TESSERA_NAMED(queries, rows) TESSERA_REGRESSION_BYTES(queries##x##rows)
#define TESSERA_OF_SHAPE(queries, rows) TESSERA_NAMED(queries, rows)  // their values, not their names

TESSERA_OF_SHAPE(TESSERA_TILE_M, TESSERA_TILE_N)
