// What gemm's variants tiled and coalesced_a share: a block of t x t threads computes t x t elements of C, one a
// thread, from square tiles that it copies to shared memory.
#pragma once

#include "ops/gemm/gemm_batch.cuh"
#include "ops/gemm/gemm_store.cuh"

namespace tessera::cuda {

/// [row of op(X)][column of op(X)]. Rows are one longer than the tile, so that a column goes to different banks.
template <class T, int kTile>
using SquareTile = T[kTile][kTile + 1];

/// One element a thread, from (row0, column0) of op(X) on, a run of stored neighbours for a run of threads: a
/// transposed tile is turned while it is written. What lies outside of the rows x columns of op(X) enters as 0.
template <bool kTranspose, class T, int kTile>
__device__ __forceinline__ void fetch_square(T (&tile)[kTile][kTile + 1], const T* matrix, std::int64_t leading,
                                             std::int64_t row0, std::int64_t column0, std::int64_t rows,
                                             std::int64_t columns) {
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t row = row0 + (kTranspose ? x : y);
  const std::int64_t column = column0 + (kTranspose ? y : x);
  const bool inside = row < rows && column < columns;
  const std::int64_t index = kTranspose ? column * leading + row : row * leading + column;
  tile[kTranspose ? x : y][kTranspose ? y : x] = inside ? matrix[index] : T(0);
}

/// Calls compute(row, column) with the first element of each square of C that is this block's. The grid's y is at most
/// 65,535 blocks, so both axes loop on.
template <int kTile, class T, class Compute>
__device__ __forceinline__ void for_each_square(const GemmArguments<T>& gemm, Compute compute) {
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * kTile;
  const std::int64_t column_step = static_cast<std::int64_t>(gridDim.x) * kTile;
  for (std::int64_t row0 = static_cast<std::int64_t>(blockIdx.y) * kTile; row0 < gemm.m; row0 += row_step) {
    for (std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * kTile; column0 < gemm.n;
         column0 += column_step) {
      compute(row0, column0);
    }
  }
}

}  // namespace tessera::cuda

// n: as stored, t: transposed; first A, then B. gemm_variants.cpp builds the same names. gemm_<variant> is the function
// template <class T, int kTile, bool kTransposeA, bool kTransposeB> that computes one product.
#define TESSERA_GEMM_SQUARE_ONE(variant, T, type, tile, letters, transpose_a, transpose_b)                             \
  extern "C" __global__ void __launch_bounds__(tile* tile)                                                             \
      tessera_gemm_##variant##_##type##_##letters##_##tile(const tessera::cuda::GemmArguments<T> gemm) {               \
    tessera::cuda::for_each_product(                                                                                   \
        gemm, [](const auto& product) { tessera::cuda::gemm_##variant<T, tile, transpose_a, transpose_b>(product); }); \
  }
#define TESSERA_GEMM_SQUARE_TILE(variant, T, type, tile)            \
  TESSERA_GEMM_SQUARE_ONE(variant, T, type, tile, nn, false, false) \
  TESSERA_GEMM_SQUARE_ONE(variant, T, type, tile, nt, false, true)  \
  TESSERA_GEMM_SQUARE_ONE(variant, T, type, tile, tn, true, false)  \
  TESSERA_GEMM_SQUARE_ONE(variant, T, type, tile, tt, true, true)
#define TESSERA_GEMM_SQUARE_TYPE(variant, T, type) \
  TESSERA_GEMM_SQUARE_TILE(variant, T, type, 4)    \
  TESSERA_GEMM_SQUARE_TILE(variant, T, type, 8)    \
  TESSERA_GEMM_SQUARE_TILE(variant, T, type, 16)   \
  TESSERA_GEMM_SQUARE_TILE(variant, T, type, 32)
#define TESSERA_GEMM_SQUARE_TILES(variant)          \
  TESSERA_GEMM_SQUARE_TYPE(variant, float, float32) \
  TESSERA_GEMM_SQUARE_TYPE(variant, double, float64)
