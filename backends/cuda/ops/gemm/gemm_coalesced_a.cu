// gemm, coalesced_a: a block brings the tile of A that it needs into shared memory; B is read where it is. The version
// between naive and tiled: it shows what the tile of A alone is worth.
//
//                 B  k x n                    t = 4, 8, 16 or 32, the tunable `tile`
//                +------+-----+----           a block  = t x t threads = t x t elements of C
//                |      |  v  |               a thread = one element of C; per step it fetches one element of A for
//                all, |      +-----+                          and adds t products of a row in shared memory with what
//                it |      ||||||| step                     reads of its column of B |      +-----+
//   A  m x k     |      |     |               Every element of A is read n / t times from device memory, a run of t
//   +--+-----+-- C------+-----+----           neighbours at once in either orientation: a transposed tile is turned
//   |  |     |   |      |     |               while it is written, and its rows are t + 1 long, so that the turned
//   write, | >|t x t|   |      |t x t|               a column, goes to different banks. Every element of B is read m
//   times, runs |  |     |   |      |     |               of t neighbours in each of t rows of threads, by the cache's
//   grace; a
//   +--+-----+-- +------+-----+----           transposed B costs a transaction for each of them.
//     step
//
// Rows of A beyond the edge enter as 0 and are not stored; what lies beyond the end of k is not multiplied. The grid's
// y is at most 65,535 blocks, so both axes loop on.
#include "ops/gemm/gemm_batch.cuh"
#include "ops/gemm/gemm_store.cuh"

namespace tessera::cuda {

template <class T, int kTile, bool kTransposeA, bool kTransposeB>
__device__ void gemm_coalesced_a(const GemmArguments<T>& gemm) {
  __shared__ T a_tile[kTile][kTile + 1];  // [row of op(A)][step along k]
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * kTile;
  const std::int64_t column_step = static_cast<std::int64_t>(gridDim.x) * kTile;
  const std::int64_t b_step = kTransposeB ? 1 : gemm.ldb;

  for (std::int64_t row0 = static_cast<std::int64_t>(blockIdx.y) * kTile; row0 < gemm.m; row0 += row_step) {
    for (std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * kTile; column0 < gemm.n;
         column0 += column_step) {
      const bool inside = column0 + x < gemm.n;
      const T* b = gemm.b + (column0 + x) * (kTransposeB ? gemm.ldb : 1);
      T sum = 0;
      for (std::int64_t l0 = 0; l0 < gemm.k; l0 += kTile) {
        const std::int64_t a_row = row0 + (kTransposeA ? x : y);
        const std::int64_t a_l = l0 + (kTransposeA ? y : x);
        const bool a_inside = a_row < gemm.m && a_l < gemm.k;
        const std::int64_t a_index = kTransposeA ? a_l * gemm.lda + a_row : a_row * gemm.lda + a_l;
        a_tile[kTransposeA ? x : y][kTransposeA ? y : x] = a_inside ? gemm.a[a_index] : T(0);

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
    }
  }
}

}  // namespace tessera::cuda

// n: as stored, t: transposed; first A, then B. gemm_variants.cpp builds the same names.
#define TESSERA_GEMM_COALESCED_A_ONE(T, type, tile, letters, transpose_a, transpose_b)                   \
  extern "C" __global__ void __launch_bounds__(tile* tile)                                               \
      tessera_gemm_coalesced_a_##type##_##letters##_##tile(const tessera::cuda::GemmArguments<T> gemm) { \
    tessera::cuda::for_each_product(gemm, [](const auto& product) {                                      \
      tessera::cuda::gemm_coalesced_a<T, tile, transpose_a, transpose_b>(product);                       \
    });                                                                                                  \
  }
#define TESSERA_GEMM_COALESCED_A(T, type, tile)                 \
  TESSERA_GEMM_COALESCED_A_ONE(T, type, tile, nn, false, false) \
  TESSERA_GEMM_COALESCED_A_ONE(T, type, tile, nt, false, true)  \
  TESSERA_GEMM_COALESCED_A_ONE(T, type, tile, tn, true, false)  \
  TESSERA_GEMM_COALESCED_A_ONE(T, type, tile, tt, true, true)

TESSERA_GEMM_COALESCED_A(float, float32, 4)
TESSERA_GEMM_COALESCED_A(float, float32, 8)
TESSERA_GEMM_COALESCED_A(float, float32, 16)
TESSERA_GEMM_COALESCED_A(float, float32, 32)
TESSERA_GEMM_COALESCED_A(double, float64, 4)
TESSERA_GEMM_COALESCED_A(double, float64, 8)
TESSERA_GEMM_COALESCED_A(double, float64, 16)
TESSERA_GEMM_COALESCED_A(double, float64, 32)
