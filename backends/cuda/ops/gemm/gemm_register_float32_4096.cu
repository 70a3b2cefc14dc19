// gemm, register: float32 in tiles of 64 x 64. How a tile is computed: gemm_register.cuh.
//
//   C: 64 x 64                  a block  = 4 slices, each one warp that computes the whole tile from every fourth
//   +------------------+                   run of eight steps along k
//   | 8 x 4 lanes of   |        a thread = 8 x 16 elements: 24 read from shared memory a step, for 128 products
//   | 8 x 16 elements  |
//   +------------------+        Every element of A is read n / 64 times, of B m / 64 times.
//
// The largest tile of a thread in the smallest of a block that it allows: two blocks with eight warps to a
// multiprocessor, as with the larger tiles, and four times as many blocks to deal out.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 8, false, true>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat32Tile4096, float32_4096)
