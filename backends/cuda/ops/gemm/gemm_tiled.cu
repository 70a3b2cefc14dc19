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
// Elements beyond an edge enter as 0 and are not stored. The grid's y is at most 65,535 blocks, so both axes loop on.
// One element a thread is the shape of the text books and bound by shared memory: two reads for each product. That is
// its purpose here, to show what the tile size alone does; the registers' share is another variant's.
#include "ops/gemm/gemm_batch.cuh"
#include "ops/gemm/gemm_store.cuh"

namespace tessera::cuda {

template <class T, int kTile, bool kTransposeA, bool kTransposeB>
__device__ void gemm_tiled(const GemmArguments<T>& gemm) {
  __shared__ T a_tile[kTile][kTile + 1];  // [row of op(A)][step along k]
  __shared__ T b_tile[kTile][kTile + 1];  // [step along k][column of op(B)]
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * kTile;
  const std::int64_t column_step = static_cast<std::int64_t>(gridDim.x) * kTile;

  for (std::int64_t row0 = static_cast<std::int64_t>(blockIdx.y) * kTile; row0 < gemm.m; row0 += row_step) {
    for (std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * kTile; column0 < gemm.n;
         column0 += column_step) {
      T sum = 0;
      for (std::int64_t l0 = 0; l0 < gemm.k; l0 += kTile) {
        const std::int64_t a_row = row0 + (kTransposeA ? x : y);
        const std::int64_t a_l = l0 + (kTransposeA ? y : x);
        const bool a_inside = a_row < gemm.m && a_l < gemm.k;
        const std::int64_t a_index = kTransposeA ? a_l * gemm.lda + a_row : a_row * gemm.lda + a_l;
        a_tile[kTransposeA ? x : y][kTransposeA ? y : x] = a_inside ? gemm.a[a_index] : T(0);

        const std::int64_t b_l = l0 + (kTransposeB ? x : y);
        const std::int64_t b_column = column0 + (kTransposeB ? y : x);
        const bool b_inside = b_l < gemm.k && b_column < gemm.n;
        const std::int64_t b_index = kTransposeB ? b_column * gemm.ldb + b_l : b_l * gemm.ldb + b_column;
        b_tile[kTransposeB ? x : y][kTransposeB ? y : x] = b_inside ? gemm.b[b_index] : T(0);

        __syncthreads();
#pragma unroll
        for (int l = 0; l < kTile; ++l) sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads();  // the next step overwrites what slower threads still read
      }
      if (row0 + y < gemm.m && column0 + x < gemm.n) store(gemm, row0 + y, column0 + x, sum);
    }
  }
}

}  // namespace tessera::cuda

// n: as stored, t: transposed; first A, then B. gemm_variants.cpp builds the same names.
#define TESSERA_GEMM_TILED_ONE(T, type, tile, letters, transpose_a, transpose_b)                                   \
  extern "C" __global__ void __launch_bounds__(tile* tile)                                                         \
      tessera_gemm_tiled_##type##_##letters##_##tile(const tessera::cuda::GemmArguments<T> gemm) {                 \
    tessera::cuda::for_each_product(                                                                               \
        gemm, [](const auto& product) { tessera::cuda::gemm_tiled<T, tile, transpose_a, transpose_b>(product); }); \
  }
#define TESSERA_GEMM_TILED(T, type, tile)                 \
  TESSERA_GEMM_TILED_ONE(T, type, tile, nn, false, false) \
  TESSERA_GEMM_TILED_ONE(T, type, tile, nt, false, true)  \
  TESSERA_GEMM_TILED_ONE(T, type, tile, tn, true, false)  \
  TESSERA_GEMM_TILED_ONE(T, type, tile, tt, true, true)

TESSERA_GEMM_TILED(float, float32, 4)
TESSERA_GEMM_TILED(float, float32, 8)
TESSERA_GEMM_TILED(float, float32, 16)
TESSERA_GEMM_TILED(float, float32, 32)
TESSERA_GEMM_TILED(double, float64, 4)
TESSERA_GEMM_TILED(double, float64, 8)
TESSERA_GEMM_TILED(double, float64, 16)
TESSERA_GEMM_TILED(double, float64, 32)
