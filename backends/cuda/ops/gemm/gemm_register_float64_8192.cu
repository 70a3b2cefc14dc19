// gemm, register: float64 in tiles of 128 x 64. How a tile is computed: gemm_register.cuh.
//
//   C: 128 x 64                 a block  = 4 x 2 warps
//   +--------+--------+         a warp   = 2 x 4 tiles of 16 x 8: 64 elements read from shared memory a step, for 1024
//   | 32x32  | 32x32  |                    products
//   +--------+--------+
//   |        |        |         Every element of A is read n / 64 times, of B m / 128 times. Two blocks to a
//   +--------+--------+         multiprocessor; 128 x 128 with warps of 64 x 32 reads less and was no faster.
//   |        |        |
//   +--------+--------+
//   |        |        |
//   +--------+--------+
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat64Tile8192, float64_8192)
