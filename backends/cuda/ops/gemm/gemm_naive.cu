// gemm, naive: one thread computes one element of C from device memory alone. The reference for what tiling gains.
//
//             B  k x n                        a block = block_columns x block_rows of C
//            +-------+------+-----            a warp  = neighbouring columns of one row, or of two and more
//            |       |//////|                 a thread = one element, a loop over k
//            |       |//////|
//            +-------+------+-----            Read of A: the same address in all lanes, one broadcast.
//   A  m x k  C                               Read of B: 32 neighbours, one full transaction (transposed: 32 rows).
//   +-------+-------+------+-----             Every element of A is read n times and of B m times, mostly from the
//   |       |       |      |                  caches: the rows of a block share what they read of B.
//   |=======|       |block |
//   |       |       |      |                  The grid's y is at most 65,535 blocks, so both axes loop on.
//
// 32 x 8 is preferred: one warp a row, and enough warps a block to hide latency. Squares of 4 to 32 are the published
// study's.
#include "ops/gemm/gemm_batch.cuh"
#include "ops/gemm/gemm_store.cuh"

namespace tessera::cuda {

template <class T>
__device__ void gemm_naive(const GemmArguments<T>& gemm) {
  const std::int64_t a_row = gemm.transpose_a ? 1 : gemm.lda;
  const std::int64_t a_column = gemm.transpose_a ? gemm.lda : 1;
  const std::int64_t b_row = gemm.transpose_b ? 1 : gemm.ldb;
  const std::int64_t b_column = gemm.transpose_b ? gemm.ldb : 1;
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  const std::int64_t column_step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;

  for (std::int64_t row = first_row; row < gemm.m; row += row_step) {
    for (std::int64_t column = first_column; column < gemm.n; column += column_step) {
      const T* a = gemm.a + row * a_row;
      const T* b = gemm.b + column * b_column;
      T sum = 0;
      for (std::int64_t l = 0; l < gemm.k; ++l) {
        sum += *a * *b;
        a += a_column;
        b += b_row;
      }
      store(gemm, row, column, sum);
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_GEMM_NAIVE(T, type)                                                                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kGemmNaiveThreads)                            \
      tessera_gemm_naive_##type(const tessera::cuda::GemmArguments<T> gemm) {                               \
    tessera::cuda::for_each_product(gemm, [](const auto& product) { tessera::cuda::gemm_naive(product); }); \
  }

TESSERA_GEMM_NAIVE(float, float32)
TESSERA_GEMM_NAIVE(double, float64)
