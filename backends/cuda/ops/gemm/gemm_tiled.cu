// gemm, tiled: a block computes a square tile of C and brings the tiles of A and B that it needs into shared memory.
//
//                 B  k x n                    t = 4, 8, 16 or 32, the tunable `tile`
//                +------+-----+----           a block  = t x t threads = t x t elements of C
//                |      |  v  |               a thread = one element of C; per step it fetches one element of A and one
//                |      +-----+                          of B for all, and adds t products from shared memory
//                |      |t x t|  step
//                |      +-----+               Every element of A is read n / t times and of B m / t times from device
//   A  m x k     |      |     |               memory, each read a run of t neighbours, in either orientation: the
//   +--+-----+-- C------+-----+----           threads' x runs along the stored rows, and a transposed tile is turned
//   |  |     |   |      |     |               while it is written to shared memory.
//   | >|t x t|   |      |t x t|
//   |  |     |   |      |     |               Rows in shared memory are t + 1 long, so that the turned write, a column,
//   +--+-----+-- +------+-----+----           goes to different banks. In the loop a warp reads one broadcast of A
//     step                                    and a run of B: no conflicts.
//
// Elements beyond an edge enter as 0 and are not stored.
// One element a thread is the shape of the text books and bound by shared memory: two reads for each product. That is
// its purpose here, to show what the tile size alone does; the registers' share is another variant's.
#include "ops/gemm/gemm_square_tiles.cuh"

namespace tessera::cuda {

template <class T, int kTile, bool kTransposeA, bool kTransposeB>
__device__ void gemm_tiled(const GemmArguments<T>& gemm) {
  __shared__ SquareTile<T, kTile> a_tile;
  __shared__ SquareTile<T, kTile> b_tile;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);

  for_each_square<kTile>(gemm, [&](std::int64_t row0, std::int64_t column0) {
    T sum = 0;
    for (std::int64_t l0 = 0; l0 < gemm.k; l0 += kTile) {
      fetch_square<kTransposeA>(a_tile, gemm.a, gemm.lda, row0, l0, gemm.m, gemm.k);
      fetch_square<kTransposeB>(b_tile, gemm.b, gemm.ldb, l0, column0, gemm.k, gemm.n);
      __syncthreads();
#pragma unroll
      for (int l = 0; l < kTile; ++l) sum += a_tile[y][l] * b_tile[l][x];
      __syncthreads();  // the next step overwrites what slower threads still read
    }
    if (row0 + y < gemm.m && column0 + x < gemm.n) store(gemm, row0 + y, column0 + x, sum);
  });
}

}  // namespace tessera::cuda

TESSERA_GEMM_SQUARE_TILES(tiled)
