// gemm, register: float64 in tiles of 64 x 32. How a tile is computed: gemm_register.cuh.
//
//   C: 64 x 32                  a block  = 4 slices of two warps one below the other; each slice computes the whole
//   +------------------+                   tile from every fourth run of eight steps along k
//   | warp 0   32 x 32 |        a warp   = 2 x 4 tiles of 16 x 8: 64 elements read from shared memory a step, for 1024
//   +------------------+                   products
//   | warp 1   32 x 32 |
//   +------------------+        Every element of A is read n / 32 times, of B m / 64 times.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat64Tile2048, float64_2048)
