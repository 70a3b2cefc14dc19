// What the kernels of gemm's variants split and scaled_half take, by value, and how prepared operands lie in the
// workspace; read by host and device.
//
// A row here is a row of op(A) or a column of op(B). How split rows lie: cuda_split_shape.h. `split` keeps the rounded
// elements and behind them what rounding left of each, `scaled_half` the next kSplitPlane steps.
#pragma once

#include <cstdint>

#include "cuda_split_shape.h"

namespace tessera::cuda {

/// What is known of a row.
struct GemmSplitNote {
  std::int32_t shift;  ///< the elements were multiplied by 2^shift
  /// A sum of products of scaled elements that is smaller than the doubts of its row and its column together may be off
  /// by more than the bound allows. Infinity: the row holds an infinity or NaN. Minus infinity: it holds nothing but
  /// zeros.
  float doubt;
};

/// Threads of a block that prepares, rows that it takes, steps of k that its threads take at once, and how often they
/// do so before they know the largest element: what they hold by then is not read again.
inline constexpr int kSplitPrepareThreads = 512, kSplitPrepareRows = 16, kSplitPrepareStep = 256;
inline constexpr int kSplitHeld = 4;
/// Most blocks of a cluster that share rows, each with its part of k.
inline constexpr int kSplitMostParts = 8;

/// One operand to be prepared: matrices of `rows` rows of k elements.
struct GemmSplitSide {
  const float* values;
  std::int64_t rows;
  std::int64_t padded_rows;  ///< rows up to here are zeros; a multiple of kSplitPrepareRows and of block_rows
  std::int64_t row_stride;   ///< elements from one row to the next
  std::int64_t k_stride;     ///< elements from one step of k to the next; this or row_stride is 1
  std::int64_t matrix_stride;
  unsigned char* panels;
  GemmSplitNote* notes;
  std::int32_t block_rows;
};

/// Along the grid's x, blocks of rows of A and then of B; along y, which is a cluster, parts of k.
struct GemmSplitPrepareArguments {
  GemmSplitSide a;
  GemmSplitSide b;
  std::int64_t blocks_of_a;
  std::int32_t k;
  std::int32_t padded_k;  ///< what the panels hold
  float doubt_of_one;     ///< the doubt for each element that fp16 holds with fewer bits than others
};

/// C = alpha * op(A) * op(B) + beta * C from prepared operands, for a batch of products.
struct GemmSplitArguments {
  const unsigned char* a_panels;
  const unsigned char* b_panels;
  const GemmSplitNote* a_notes;
  const GemmSplitNote* b_notes;
  std::int64_t a_matrix_rows;  ///< padded rows from one A of the batch to the next; 0: all products read the same
  std::int64_t b_matrix_rows;
  const float* a;  ///< as they were, for sums in doubt
  const float* b;
  float* c;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t a_row_stride;
  std::int64_t a_k_stride;
  std::int64_t b_k_stride;
  std::int64_t b_column_stride;
  std::int64_t ldc;
  std::int64_t stride_a;
  std::int64_t stride_b;
  std::int64_t stride_c;
  std::int32_t panels;   ///< of a block of rows
  std::int32_t tiles_m;  ///< a cluster's tiles of C: its blocks lie side by side
  std::int32_t tiles_n;
  std::int32_t batch;
  std::int32_t band;  ///< tiles along m that are visited before the next along n
  float alpha;
  float beta;
  bool aligned_c;  ///< every row of C begins at a multiple of 8 bytes
};

/// A block computes tile_m() x tile_n elements of C.
using GemmSplitShape = SplitShape;

/// The shapes that are compiled, the smallest tile first. gemm_split_choice.cpp chooses among them.
inline constexpr GemmSplitShape kGemmSplitShapes[]{{1, 64, 4, 4, 2, 1}, {1, 128, 3, 3, 1, 2}, {2, 128, 2, 3, 1, 2}};

}  // namespace tessera::cuda
