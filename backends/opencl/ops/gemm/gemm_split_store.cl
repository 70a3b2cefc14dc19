// gemm, split: what becomes of a warp's sums. They are scaled back, and C = alpha * sum + beta * C is stored. A sum that may
// be off by more than the bound allows is in doubt, and then the warp computes the 16 rows of its part of the tile that hold
// it anew, in float32 from the operands as they were. Rows with an infinity or NaN are in doubt everywhere. Where doubt
// begins: docs/decisions/0025. Options: those of gemm_split_tile.cl.
//
//   lane 4 g + t holds, of 16 rows and 8 columns:    row g, columns 2 t and 2 t + 1; row g + 8, the same
//   a row of 8 lanes by 4 lanes, pairs by pairs      | 2 columns | 2 columns | 2 columns | 2 columns |
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARP_GROUPS=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=3
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWARP_GROUPS=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=2 -DCOLUMN_BLOCKS=2 -DSTEPS=2 -DSTAGES=3
#include "ops/gemm/gemm_split_scale.cl"
#include "ops/gemm/gemm_split_tile.cl"

#define WARP_COLUMNS (16 * COLUMN_BLOCKS)

// The operands of one product, and of the round what is known of its rows and columns.
typedef struct {
  __global const float *a;
  __global const float *b;
  __global float *c;
  __global const Note *rows;
  __global const Note *columns;
  int has_pairs;  // every row of C begins at a multiple of 8 bytes
} Product;

// C = alpha * sum + beta * C for two neighbours, as far as they lie inside; with beta = 0, C is not read.
ALWAYS_INLINE void store_pair(const Gemm *gemm, const int has_pairs, __global float *place, const long left,
                              const float2 sums) {
  if (has_pairs && left >= 2) {
    float2 pair = sums * gemm->alpha;
    if (gemm->beta != 0) pair += gemm->beta * *(__global const float2 *)place;
    *(__global float2 *)place = pair;
    return;
  }
  if (left >= 1) store_result(place, sums.x, gemm->alpha, gemm->beta);
  if (left >= 2) store_result(place + 1, sums.y, gemm->alpha, gemm->beta);
}

// The warp computes 16 rows of WARP_COLUMNS columns from A and B: eight rows by 32 columns at once, a column a lane.
ALWAYS_INLINE void compute_anew(const Gemm gemm, const Product *product, const long first_row, const long first_column) {
  const int lane = (int)get_local_id(0) % 32;
#pragma unroll 1
  for (int part = 0; part < 2 * WARP_COLUMNS / 32; ++part) {
    const long column = first_column + part / 2 * 32 + lane;
    const long row = first_row + part % 2 * 8;
    if (row >= gemm.m) continue;
    const long column_inside = min(column, gemm.n - 1);
    long rows_inside[8];
    float sums[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      rows_inside[i] = min(row + i, gemm.m - 1);
      sums[i] = 0;
    }
#pragma unroll 2
    for (long p = 0; p < gemm.k; ++p) {
      const float factor = product->b[B_INDEX(p, column_inside)];
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] = fma(product->a[A_INDEX(rows_inside[i], p)], factor, sums[i]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (row + i >= gemm.m || column >= gemm.n) continue;
      store_result(product->c + (row + i) * gemm.ldc + column, sums[i], gemm.alpha, gemm.beta);
    }
  }
}

// Written so that a NaN, of two infinite doubts, is in doubt.
ALWAYS_INLINE int is_doubtful(const float of_row, const float of_column, const float found) {
  return !(fabs(found) >= of_row + of_column);
}

// What is known of the rows and columns of a lane's sums. It is read before the first of them is stored: a load is not
// moved before a store that might change what it reads, and each would wait for memory.
typedef struct {
  Note upper[ROW_BLOCKS], lower[ROW_BLOCKS];
  int4 columns[PAIRS];  // of two columns each
} Notes;
ALWAYS_INLINE void load_notes(Notes *notes, const Product *product, const long row, const long column) {
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    notes->upper[i] = product->rows[row + i * BLOCK_ROWS];
    notes->lower[i] = product->rows[row + i * BLOCK_ROWS + 8];
  }
#pragma unroll
  for (int j = 0; j < PAIRS; ++j) notes->columns[j] = *(__global const int4 *)(product->columns + column + 8 * j);
}

// Is one of the warp's sums of 16 rows in doubt? `row` and `column` are those of this lane's first sum.
ALWAYS_INLINE int is_in_doubt(const Gemm *gemm, const Note upper, const Note lower, const int4 columns[PAIRS],
                              const float sums[PAIRS][4], const long row, const long column) {
  int in_doubt = 0;
#pragma unroll
  for (int j = 0; j < PAIRS; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float doubt = as_float(i == 0 ? columns[j].y : columns[j].w);
      const int is_inside = column + 8 * j + i < gemm->n;
      in_doubt |= is_inside && row < gemm->m && is_doubtful(upper.doubt, doubt, sums[j][i]);
      in_doubt |= is_inside && row + 8 < gemm->m && is_doubtful(lower.doubt, doubt, sums[j][2 + i]);
    }
  }
  return is_any(in_doubt);
}

// Stores a lane's sums of one row.
ALWAYS_INLINE void store_row(const Gemm *gemm, const Product *product, const int shift, const int4 columns[PAIRS],
                             const float sums[PAIRS][4], const int first, const long row, const long column) {
  if (row >= gemm->m) return;
  const float factor = near_power_of_two(-shift);
  int is_near = abs(shift) <= 60;  // no product below leaves the normal numbers
#pragma unroll
  for (int j = 0; j < PAIRS; ++j) is_near = is_near && abs(columns[j].x) <= 60 && abs(columns[j].z) <= 60;
  __global float *const place = product->c + row * gemm->ldc + column;
#pragma unroll
  for (int j = 0; j < PAIRS; ++j) {
    float2 found = (float2)(sums[j][first], sums[j][first + 1]);
    if (is_near) {
      found.x = found.x * factor * near_power_of_two(-columns[j].x);
      found.y = found.y * factor * near_power_of_two(-columns[j].z);
    } else {
      found.x = scaled_back(found.x, shift + columns[j].x);
      found.y = scaled_back(found.y, shift + columns[j].z);
    }
    store_pair(gemm, product->has_pairs, place + 8 * j, gemm->n - column - 8 * j, found);
  }
}

// The warp stores its part of the tile, whose first row and column these are.
ALWAYS_INLINE void store_sums(const Gemm gemm, const Product *product, const float sums[ROW_BLOCKS][PAIRS][4],
                              const long first_row, const long first_column) {
  const int lane = (int)get_local_id(0) % 32;
  const long row = first_row + lane / 4;
  const long column = first_column + lane % 4 * 2;
  Notes notes;
  load_notes(&notes, product, row, column);
  int doubts = 0;
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    doubts |= is_in_doubt(&gemm, notes.upper[i], notes.lower[i], notes.columns, sums[i], row + i * BLOCK_ROWS, column) << i;
  }
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    if ((doubts >> i & 1) != 0) continue;
    store_row(&gemm, product, notes.upper[i].shift, notes.columns, sums[i], 0, row + i * BLOCK_ROWS, column);
    store_row(&gemm, product, notes.lower[i].shift, notes.columns, sums[i], 2, row + i * BLOCK_ROWS + 8, column);
  }
#pragma unroll 1
  for (int i = 0; i < ROW_BLOCKS && doubts != 0; ++i) {
    if ((doubts >> i & 1) != 0) compute_anew(gemm, product, first_row + i * BLOCK_ROWS, first_column);
  }
}
