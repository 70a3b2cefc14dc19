// gemm, register: float64 in tiles of 64 x 64. How a tile is computed: gemm_register.cuh.
//
//   C: 64 x 64                  a block  = 2 slices of 2 x 2 warps; each slice computes the whole tile from one half of
//   +--------+--------+                    the steps along k of each stage
//   | warp 0 | warp 1 |         a warp   = 2 x 4 tiles of 16 x 8: 64 elements read from shared memory a step, for 1024
//   +--------+--------+                    products
//   | warp 2 | warp 3 |
//   +--------+--------+         Every element of A is read n / 64 times, of B m / 64 times.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat64Tile4096, float64_4096)
