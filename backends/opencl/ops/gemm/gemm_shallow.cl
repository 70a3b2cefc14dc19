// gemm, shallow: sums so short that the product is little more than the writing of C. Options: ROWS (of each work-item,
// a power of two), RUNS (columns of each), SHIFTS (tiles begin where sectors of memory do).
//
//                   B  k x n                       a group     = 8 * ROWS rows x 32 * RUNS columns of C
//                  +-----+-----------+--           32 items    = every eighth of the rows
//               k  |     |///////////|             a work-item = ROWS of them, of every 32nd column
//                  +-----+-----------+--
//      A  m x k      C                             DEPTH steps of both operands lie in local memory. 32 work-items read
//      +---+       +-----+-----------+--           their rows' elements of A at once, a broadcast, and neighbours of B,
//      |   |       |     |           |             for ROWS x RUNS products each. They store 32 neighbours at once.
//      |///| row 0 |     |..|--------|..
//      |   | row 1 |     |...|-------|.            SHIFTS, where rows of C do not begin at a sector of 32 bytes: a tile
//      |///| row 8 |     |..|--------|..           begins up to a sector earlier than its place, where one does. Rows that
//      +---+       +-----+-----------+--           are eight apart begin alike, so that columns are the same in all of a
//                                                  work-item's rows, and sectors are written whole.
//
// Every element of A is read n / (32 * RUNS) times, of B m / (8 * ROWS) times, mostly from a cache; C is written once,
// and read where beta says so.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DROWS=8 -DRUNS=4 -DSHIFTS=1
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DROWS=2 -DRUNS=1 -DSHIFTS=0
#include "ops/gemm/gemm_operands.cl"

#define ITEMS 256
#define ACROSS 32
#define DOWN 8
#define DEPTH 16
#define SECTOR (FLOAT64 ? 4 : 8)
#define TILE_M (DOWN * ROWS)
#define TILE_N (ACROSS * RUNS)
#define COLUMNS (TILE_N + SECTOR)  // that are brought: a tile begins up to a sector early
#define STEP (COLUMNS + 1)         // so that steps of one column lie in different banks
#define PASSES(count) (((count) + ITEMS - 1) / ITEMS)

// DEPTH steps of TILE_M rows of A, from (row, p) on, to [step][row % DOWN][row / DOWN]. What is not there is not written,
// and what comes of it not stored.
static inline void bring_a(__local real *to, __global const real *a, const Gemm gemm, const long row, const long p,
                           const int depth, const int item) {
  real value[PASSES(DEPTH * TILE_M)];
#pragma unroll
  for (int pass = 0; pass < PASSES(DEPTH * TILE_M); ++pass) {
    const int i = item + pass * ITEMS;
    const int l = TRANSPOSE_A ? i / TILE_M : i % DEPTH, own = TRANSPOSE_A ? i % TILE_M : i / DEPTH;
    value[pass] = 0;
    if (l < depth && own < TILE_M && row + own < gemm.m) value[pass] = a[A_INDEX(row + own, p + l)];
  }
#pragma unroll
  for (int pass = 0; pass < PASSES(DEPTH * TILE_M); ++pass) {
    const int i = item + pass * ITEMS;
    const int l = TRANSPOSE_A ? i / TILE_M : i % DEPTH, own = TRANSPOSE_A ? i % TILE_M : i / DEPTH;
    if (i < DEPTH * TILE_M) to[(l * DOWN + own % DOWN) * ROWS + own / DOWN] = value[pass];
  }
}

// The same of COLUMNS columns of B, to [step][column].
static inline void bring_b(__local real *to, __global const real *b, const Gemm gemm, const long p, const long column,
                           const int depth, const int item) {
  real value[PASSES(DEPTH * COLUMNS)];
#pragma unroll
  for (int pass = 0; pass < PASSES(DEPTH * COLUMNS); ++pass) {
    const int i = item + pass * ITEMS;
    const int l = TRANSPOSE_B ? i % DEPTH : i / COLUMNS, own = TRANSPOSE_B ? i / DEPTH : i % COLUMNS;
    value[pass] = 0;
    if (l < depth && own < COLUMNS && column + own >= 0 && column + own < gemm.n)
      value[pass] = b[B_INDEX(p + l, column + own)];
  }
#pragma unroll
  for (int pass = 0; pass < PASSES(DEPTH * COLUMNS); ++pass) {
    const int i = item + pass * ITEMS;
    const int l = TRANSPOSE_B ? i % DEPTH : i / COLUMNS, own = TRANSPOSE_B ? i / DEPTH : i % COLUMNS;
    if (i < DEPTH * COLUMNS) to[l * STEP + own] = value[pass];
  }
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_shallow(GEMM_PARAMETERS) {
  __local real of_a[DEPTH * TILE_M] __attribute__((aligned(128)));
  __local real of_b[DEPTH * STEP] __attribute__((aligned(128)));
  const int item = (int)get_local_id(0), lane = item % ACROSS, down = item / ACROSS;
  const Block block =
      block_of_group((long)get_group_id(0), gemm.m, gemm.n + (SHIFTS ? SECTOR - 1 : 0), TILE_M, TILE_N);
  a += a_first + block.product * gemm.stride_a;
  b += b_first + block.product * gemm.stride_b;
  const long first_row = block.first_row + down;  // the work-item's first
  // Memory begins at a multiple of a sector.
  const long of_c = (long)c_first + block.product * gemm.stride_c + first_row * gemm.ldc + block.first_column;
  const int early = SHIFTS ? (int)(of_c & (SECTOR - 1)) : 0;

  real sums[ROWS][RUNS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int run = 0; run < RUNS; ++run) sums[i][run] = 0;
  }
  for (long p = 0; p < gemm.k; p += DEPTH) {
    const int depth = (int)min(gemm.k - p, (long)DEPTH);
    barrier(CLK_LOCAL_MEM_FENCE);  // what was there before has been used
    bring_a(of_a, a, gemm, block.first_row, p, depth, item);
    bring_b(of_b, b, gemm, p, block.first_column - SECTOR, depth, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int l = 0; l < depth; ++l) {
      __local const real *const its_a = of_a + (l * DOWN + down) * ROWS;
      __local const real *const its_b = of_b + l * STEP + SECTOR - early + lane;
#pragma unroll
      for (int run = 0; run < RUNS; ++run) {
        const real factor = its_b[run * ACROSS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) sums[i][run] += its_a[i] * factor;
      }
    }
  }

#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int run = 0; run < RUNS; ++run) {
      const long column = block.first_column - early + lane + run * ACROSS;
      if (first_row + i * DOWN >= gemm.m || column < 0 || column >= gemm.n) continue;
      store_result(&c[of_c - early + lane + run * ACROSS + i * DOWN * gemm.ldc], sums[i][run], gemm.alpha, gemm.beta);
    }
  }
}
