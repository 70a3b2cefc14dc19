// gemm, register: float32 in tiles of 128 x 128. How a tile is computed: gemm_register.cuh.
//
//   C: 128 x 128                a block  = 2 x 2 warps
//   +--------+--------+         a thread = 8 x 16 elements: 24 read from shared memory a step, for 128 products
//   | warp 0 | warp 1 |
//   +--------+--------+         Every element of A is read n / 128 times, of B m / 128 times. Two blocks to a
//   | warp 2 | warp 3 |         multiprocessor: one with 128 x 256 and twice the threads was no faster.
//   +--------+--------+
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 8, false>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat32Tile16384, float32_16384)
