// gemm, shallow: sums so short that the product is little more than the writing of C. Options: ROWS (of each work-item,
// a power of two), RUNS (columns of each), ITEMS (of a group), ACROSS (of them side by side in a row of a tile), SHIFTS
// (tiles begin where sectors of memory do: with ACROSS of 32 alone).
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
// Where C has few columns, ACROSS is 8 and a group 32 * ROWS rows high: rows that lie one behind the other are still
// stored side by side. Many small products are shared by groups of 64, of which more run at once.
//
// Every element of A is read n / TILE_N times, of B m / TILE_M times, mostly from a cache; C is written once, and read
// where beta says so.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DROWS=8 -DRUNS=4 -DITEMS=256 -DACROSS=32 -DSHIFTS=1
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DROWS=4 -DRUNS=1 -DITEMS=64 -DACROSS=8 -DSHIFTS=0
#include "ops/gemm/gemm_operands.cl"

#define DOWN (ITEMS / ACROSS)
#define DEPTH 16
#define SECTOR (FLOAT64 ? 4 : 8)
#define EARLY (SHIFTS ? SECTOR : 0)  // columns that are brought before the tile's place
#define TILE_M (DOWN * ROWS)
#define TILE_N (ACROSS * RUNS)
#define COLUMNS (TILE_N + EARLY)
#define STEP_A (TILE_M + (FLOAT64 ? 2 : 4))  // so that steps of one row lie in different banks,
#define STEP_B (COLUMNS + 1)                 // and of one column

// What a work-item brings of A and of B at once.
#define COUNT_A ((DEPTH * TILE_M + ITEMS - 1) / ITEMS)
#define COUNT_B ((DEPTH * COLUMNS + ITEMS - 1) / ITEMS)

// Which step and row of A, and step and column of B, is the i-th of what a group brings: neighbours in memory.
#define STEP_OF_A(i) (TRANSPOSE_A ? (i) / TILE_M : (i) % DEPTH)
#define ROW_OF(i) (TRANSPOSE_A ? (i) % TILE_M : (i) / DEPTH)
#define STEP_OF_B(i) (TRANSPOSE_B ? (i) % DEPTH : (i) / COLUMNS)
#define COLUMN_OF(i) (TRANSPOSE_B ? (i) / DEPTH : (i) % COLUMNS)

// A work-item's share of DEPTH steps of TILE_M rows of A, from (row, p) on, `rows` of which exist. What is not there is 0,
// and what comes of it not stored.
static inline void load_a(real* value, __global const real* a, const Gemm gemm, const long row, const long p,
                          const int rows, const int item) {
  const long first = A_INDEX(row, p);
  const int depth = (int)min(gemm.k - p, (long)DEPTH);
#pragma unroll
  for (int pass = 0; pass < COUNT_A; ++pass) {
    const int i = item + pass * ITEMS;
    const bool is_there = STEP_OF_A(i) < depth && ROW_OF(i) < rows;
    value[pass] = 0;
    if (is_there) value[pass] = a[first + A_INDEX((long)ROW_OF(i), (long)STEP_OF_A(i))];
  }
}

// The same of COLUMNS columns of B, those from `begin` to `end` of which exist.
static inline void load_b(real* value, __global const real* b, const Gemm gemm, const long p, const long column,
                          const int begin, const int end, const int item) {
  const long first = B_INDEX(p, column);
  const int depth = (int)min(gemm.k - p, (long)DEPTH);
#pragma unroll
  for (int pass = 0; pass < COUNT_B; ++pass) {
    const int i = item + pass * ITEMS;
    const bool is_there = STEP_OF_B(i) < depth && COLUMN_OF(i) >= begin && COLUMN_OF(i) < end;
    value[pass] = 0;
    if (is_there) value[pass] = b[first + B_INDEX((long)STEP_OF_B(i), (long)COLUMN_OF(i))];
  }
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_shallow(GEMM_PARAMETERS) {
  __local real of_a[DEPTH * STEP_A] __attribute__((aligned(128)));
  __local real of_b[DEPTH * STEP_B] __attribute__((aligned(128)));
  const int item = (int)get_local_id(0), lane = item % ACROSS, down = item / ACROSS;
  const Block block = block_of_group((long)get_group_id(0), gemm.m, gemm.n + (SHIFTS ? SECTOR - 1 : 0), TILE_M, TILE_N);
  a += a_first + block.product * gemm.stride_a;
  b += b_first + block.product * gemm.stride_b;
  // Of what is brought: its first column, and which rows and columns exist.
  const long first_column = block.first_column - EARLY;
  const int rows = (int)min(gemm.m - block.first_row, (long)TILE_M);
  const int begin = first_column < 0 ? (int)-first_column : 0, end = (int)min(gemm.n - first_column, (long)COLUMNS);
  // The work-item's first row, from the first of these columns on. Memory begins at a multiple of a sector.
  const long of_c = (long)c_first + block.product * gemm.stride_c + (block.first_row + down) * gemm.ldc + first_column;
  const int own_column = lane + (SHIFTS ? EARLY - (int)(of_c & (SECTOR - 1)) : 0);

  real sums[ROWS][RUNS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int run = 0; run < RUNS; ++run) sums[i][run] = 0;
  }
  real value_a[COUNT_A], value_b[COUNT_B];
  load_a(value_a, a, gemm, block.first_row, 0, rows, item);
  load_b(value_b, b, gemm, 0, first_column, begin, end, item);
  for (long p = 0; p < gemm.k; p += DEPTH) {
    const int depth = (int)min(gemm.k - p, (long)DEPTH);
    barrier(CLK_LOCAL_MEM_FENCE);  // what was there before has been used
#pragma unroll
    for (int pass = 0; pass < COUNT_A; ++pass) {
      const int i = item + pass * ITEMS;
      if (i < DEPTH * TILE_M) of_a[STEP_OF_A(i) * STEP_A + ROW_OF(i) % DOWN * ROWS + ROW_OF(i) / DOWN] = value_a[pass];
    }
#pragma unroll
    for (int pass = 0; pass < COUNT_B; ++pass) {
      const int i = item + pass * ITEMS;
      if (i < DEPTH * COLUMNS) of_b[STEP_OF_B(i) * STEP_B + COLUMN_OF(i)] = value_b[pass];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p + DEPTH < gemm.k) {  // on its way during the products
      load_a(value_a, a, gemm, block.first_row, p + DEPTH, rows, item);
      load_b(value_b, b, gemm, p + DEPTH, first_column, begin, end, item);
    }
    for (int l = 0; l < depth; ++l) {
      __local const real* const its_a = of_a + l * STEP_A + down * ROWS;
      __local const real* const its_b = of_b + l * STEP_B + own_column;
#pragma unroll
      for (int run = 0; run < RUNS; ++run) {
        const real factor = its_b[run * ACROSS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) sums[i][run] += its_a[i] * factor;
      }
    }
  }

  long place = of_c + own_column;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int run = 0; run < RUNS; ++run) {
      const int column = own_column + run * ACROSS;
      if (down + i * DOWN < rows && column >= begin && column < end)
        store_result(&c[place + run * ACROSS], sums[i][run], gemm.alpha, gemm.beta);
    }
    place += DOWN * gemm.ldc;
  }
}
