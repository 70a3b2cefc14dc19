// gemm, register: the kernels of one type and one tile, TESSERA_TYPE and TESSERA_TILE_M x TESSERA_TILE_N, which the
// build gives: an image a shape, because each takes about as long to compile as all of gemm's other kernels. How a tile
// is computed: gemm_register.cuh.
//
//   C                        a block                                   reads from shared memory, for each step along k
//   float32   32 x 32        4 slices of one warp                      a thread 12 elements for   32 products
//             32 x 64        4 slices of one warp                               16                64
//             48 x 64        2 slices of 1 x 2 warps                            16                48
//             64 x 64        4 slices of one warp                               24               128
//             64 x 128       2 slices of two warps side by side                 24               128
//             128 x 128      2 x 2 warps                                        24               128
//   float64   32 x 32        8 slices of one warp                      a warp   64 elements for 1024 products
//             64 x 32        4 slices of two warps, one below the other
//             64 x 64        2 slices of 2 x 2 warps
//             128 x 64       2 slices of 2 x 2 warps                            96               2048
//             128 x 128      2 x 4 warps
//
//   +--------+--------+      Warps lie beside and below each other in the tile: here float32's 128 x 128. A slice
//   | warp 0 | warp 1 |      computes the whole tile from its share of each stage's steps. An element of A is read
//   +--------+--------+      n / tile_n times, of B m / tile_m times.
//   | warp 2 | warp 3 |
//   +--------+--------+      Small tiles are for a C that is too small for larger ones to reach all multiprocessors.
//                            Their slices give a multiprocessor as many warps as the larger tiles have. 128 x 256 with
//                            twice the threads in float32 was no faster.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_warps.cuh"

namespace tessera::cuda {
using Warp = GemmRegisterWarp<TESSERA_TYPE, TESSERA_TILE_M, TESSERA_TILE_N>;
constexpr GemmRegisterShape kShape = gemm_register_shape<TESSERA_TYPE>(TESSERA_TILE_M, TESSERA_TILE_N);
}  // namespace tessera::cuda

// n: as stored, t: transposed; first A, then B. gemm_register.cpp builds the same names.
#define TESSERA_GEMM_REGISTER(name, transpose_a, transpose_b, aligned)                                                 \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kShape.threads(), tessera::cuda::kShape.blocks)          \
      tessera_gemm_register_##name(                                                                                    \
          const __grid_constant__ tessera::cuda::GemmRegisterArguments<tessera::cuda::TESSERA_TYPE> gemm) {            \
    tessera::cuda::gemm_register<tessera::cuda::kShape, tessera::cuda::Warp, transpose_a, transpose_b, aligned>(gemm); \
  }
#define TESSERA_GEMM_REGISTER_ALL(name)                           \
  TESSERA_GEMM_REGISTER(name##_nn, false, false, true)            \
  TESSERA_GEMM_REGISTER(name##_nt, false, true, true)             \
  TESSERA_GEMM_REGISTER(name##_tn, true, false, true)             \
  TESSERA_GEMM_REGISTER(name##_tt, true, true, true)              \
  TESSERA_GEMM_REGISTER(name##_nn_unaligned, false, false, false) \
  TESSERA_GEMM_REGISTER(name##_nt_unaligned, false, true, false)  \
  TESSERA_GEMM_REGISTER(name##_tn_unaligned, true, false, false)  \
  TESSERA_GEMM_REGISTER(name##_tt_unaligned, true, true, false)
#define TESSERA_NAMED(type, tile_m, tile_n) TESSERA_GEMM_REGISTER_ALL(type##_##tile_m##x##tile_n)
#define TESSERA_OF_SHAPE(type, tile_m, tile_n) TESSERA_NAMED(type, tile_m, tile_n)  // their values, not their names

TESSERA_OF_SHAPE(TESSERA_TYPE, TESSERA_TILE_M, TESSERA_TILE_N)
