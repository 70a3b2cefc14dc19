// gemm, register: float64 in tiles of 32 x 32. How a tile is computed: gemm_register.cuh.
//
//   C: 32 x 32                  a block  = 8 slices, each one warp that computes the whole tile from every eighth
//   +------------------+                   run of eight steps along k
//   | one warp, 2 x 4  |        a warp   = 2 x 4 tiles of 16 x 8: 64 elements read from shared memory a step, for 1024
//   | instructions     |                   products
//   +------------------+        Every element of A is read n / 32 times, of B m / 32 times.
//
// For a C that is too small for larger tiles to reach all multiprocessors.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat64Tile1024, float64_1024)
