// gemm, register: float32 in tiles of 32 x 32. How a tile is computed: gemm_register.cuh.
//
//   C: 32 x 32                  a block  = 4 slices, each one warp that computes the whole tile from every fourth
//   +------------------+                   run of eight steps along k
//   | 8 x 4 lanes of   |        a thread = 4 x 8 elements: 12 read from shared memory a step, for 32 products
//   | 4 x 8 elements   |
//   +------------------+        Every element of A is read n / 32 times, of B m / 32 times.
//
// For a C that is too small for larger tiles to reach all multiprocessors: four warps, where one would do, hide each
// other's waiting. Stages are not turned, because few of them follow each other.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<32, 32, 8, true, true>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat32Tile1024, float32_1024)
