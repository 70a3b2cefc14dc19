// gemm's variants split_mma and scaled_half_mma: products of prepared operands (gemm_split_prepare.cuh) by warps, from
// sm_80 on. How a tile is multiplied: cuda_split_mma_products.cuh.
//
// Every byte of a panel is read m / tile_m or n / tile_n times from the L2 cache, and from shared memory once by each
// warp that needs it, for three products. Blocks that run side by side lie in a band of C and share what they read.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_split_mma_products.cuh"
#include "ops/gemm/gemm_split_store.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)

/// A warp stores its sums. What is in doubt is computed anew behind the others, when no register holds a sum any more.
template <SplitMmaShape kShape>
__device__ __forceinline__ void store_split_tile(const GemmSplitArguments& gemm, const SplitMmaSums<kShape>& total,
                                                 std::int64_t matrix, std::int64_t first_row,
                                                 std::int64_t first_column) {
  SplitRowNotes notes[kShape.row_blocks];
#pragma unroll
  for (int i = 0; i < kShape.row_blocks; ++i) notes[i] = row_notes(gemm, matrix, first_row + i * kSplitMmaBlock);
  unsigned in_doubt = 0;
#pragma unroll
  for (int i = 0; i < kShape.row_blocks; ++i) {
    const std::int64_t row = first_row + i * kSplitMmaBlock;
    if (!store_unless_in_doubt<false>(gemm, total[i], notes[i], matrix, row, first_column)) in_doubt |= 1u << i;
  }
#pragma unroll 1
  for (; in_doubt != 0; in_doubt &= in_doubt - 1) {
    compute_anew(gemm, matrix, first_row + (__ffs(static_cast<int>(in_doubt)) - 1) * kSplitMmaBlock, first_column,
                 kShape.column_blocks * kSplitMmaBlock);
  }
}

#endif

template <SplitMmaShape kShape, bool kHasRest>
__device__ __forceinline__ void multiply_prepared_by_warps(const GemmSplitArguments& gemm) {
#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  wait_for_kernel_before();
  let_next_kernel_start();
  const SplitTile tile = split_tile(gemm, blockIdx.x);
  const std::int64_t row = tile.row * kShape.tile_m();
  const std::int64_t column = tile.column * kShape.tile_n();
  const auto panels_of = [&](const unsigned char* panels, std::int64_t first) {
    return panels + first * gemm.panels * kSplitRowBytes;
  };
  SplitPanelFetch<kShape.tile_m(), kShape.steps, kShape.threads()> a(
      panels_of(gemm.a_panels, tile.matrix * gemm.a_matrix_rows + row));
  SplitPanelFetch<kShape.tile_n(), kShape.steps, kShape.threads()> b(
      panels_of(gemm.b_panels, tile.matrix * gemm.b_matrix_rows + column));
  SplitMmaSums<kShape> total;
  multiply_split_stages<kShape, kHasRest>(total, shared_bytes_of_block, a, b,
                                          gemm.panels * (kSplitPlane / kSplitStep / kShape.steps));
  store_split_tile<kShape>(gemm, total, tile.matrix, row + split_mma_row<kShape>(),
                           column + split_mma_column<kShape>());
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
