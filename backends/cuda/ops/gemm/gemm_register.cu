// gemm, register: the kernels of one type and one tile, TESSERA_TYPE and TESSERA_TILE_M x TESSERA_TILE_N, which the build
// gives: a file a shape, because each takes about as long to compile as all of gemm's other kernels. How a tile is
// computed: gemm_register.cuh.
//
//             C        a block                                  an element of A is read n / tile_n times, of B m / tile_m
//   float32   32 x 32  4 slices of one warp                     times; a thread reads, for each step along k,
//             64 x 64  4 slices of one warp                       12 elements from shared memory for  32 products
//             64 x 128 2 slices of two warps side by side         24                                 128
//             128 x 128          2 x 2 warps                      24                                 128
//   float64   32 x 32  8 slices of one warp                     a warp reads 64 for 1024 products
//             64 x 32  4 slices of two warps, one below the other
//             64 x 64  2 slices of 2 x 2 warps
//             128 x 64           4 x 2 warps
//
//   +--------+--------+  Warps lie beside and below each other in the tile, as in this one of 128 x 128. A slice computes
//   | warp 0 | warp 1 |  the whole tile from its share of each stage's steps. Small tiles are for a C that is too small
//   +--------+--------+  for larger ones to reach all multiprocessors; their slices give a multiprocessor as many warps
//   | warp 2 | warp 3 |  as the larger tiles do. 128 x 256 with twice the threads (float32) was no faster than two blocks
//   +--------+--------+  of 128 x 128 to a multiprocessor, 128 x 128 with warps of 64 x 32 (float64) none than 128 x 64.
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
