// gemm, register: float32 in tiles of 64 x 128. How a tile is computed: gemm_register.cuh.
//
//   C: 64 x 128                 a block  = 2 slices of two warps side by side; each slice computes the whole tile from
//   +--------+--------+                    every second run of eight steps along k
//   | warp 0 | warp 1 |         a thread = 16 x 8 elements: 24 read from shared memory a step, for 128 products
//   | 64x64  | 64x64  |
//   +--------+--------+         Every element of A is read n / 128 times, of B m / 64 times.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 4, true>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat32Tile8192, float32_8192)
