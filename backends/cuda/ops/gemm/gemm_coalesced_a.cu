// gemm, coalesced_a: a block brings the tile of A that it needs into shared memory; B is read where it is. The version
// between naive and tiled: it shows what the tile of A alone is worth.
//
//                 B  k x n                  t = 4, 8, 16 or 32, the tunable `tile`
//                +------+-----+----         a block  = t x t threads = t x t elements of C
//                |      |  v  |             a thread = one element of C; per step it fetches one element of A for all,
//                |      +-----+                        and adds t products of a row in shared memory with what it
//                |      ||||||| step                   reads of its column of B
//                |      +-----+
//   A  m x k     |      |     |             Every element of A is read n / t times from device memory, a run of t
//   +--+-----+-- C------+-----+----         neighbours at once in either orientation: a transposed tile is turned
//   |  |     |   |      |     |             while it is written, and its rows are t + 1 long, so that the turned write,
//   | >|t x t|   |      |t x t|             a column, goes to different banks. Every element of B is read m times, runs
//   |  |     |   |      |     |             of t neighbours in each of t rows of threads, mostly from the caches;
//   +--+-----+-- +------+-----+----         a transposed B costs a transaction for each of them.
//     step
//
// Rows of A beyond the edge enter as 0 and are not stored; what lies beyond the end of k is not multiplied.
#include "ops/gemm/gemm_square_tiles.cuh"

namespace tessera::cuda {

template <class T, int kTile, bool kTransposeA, bool kTransposeB>
__device__ void gemm_coalesced_a(const GemmArguments<T>& gemm) {
  __shared__ SquareTile<T, kTile> a_tile;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t b_step = kTransposeB ? 1 : gemm.ldb;

  for_each_square<kTile>(gemm, [&](std::int64_t row0, std::int64_t column0) {
    const bool inside = column0 + x < gemm.n;
    const T* b = gemm.b + (column0 + x) * (kTransposeB ? gemm.ldb : 1);
    T sum = 0;
    for (std::int64_t l0 = 0; l0 < gemm.k; l0 += kTile) {
      fetch_square<kTransposeA>(a_tile, gemm.a, gemm.lda, row0, l0, gemm.m, gemm.k);
      __syncthreads();
      if (inside) {
        if (gemm.k - l0 >= kTile) {
#pragma unroll
          for (int l = 0; l < kTile; ++l) sum += a_tile[y][l] * b[l * b_step];
        } else {
          for (int l = 0; l < static_cast<int>(gemm.k - l0); ++l) sum += a_tile[y][l] * b[l * b_step];
        }
        b += kTile * b_step;
      }
      __syncthreads();  // the next step overwrites what slower threads still read
    }
    if (row0 + y < gemm.m && inside) store(gemm, row0 + y, column0 + x, sum);
  });
}

}  // namespace tessera::cuda

TESSERA_GEMM_SQUARE_TILES(coalesced_a)
