// gemm, register, from panels: the shape for processors. Options: WORK_M, WORK_N, WIDTH (of a vector register).
//
//          A                 panels of A       B, p down                    panels of B
//     +---------+  WORK_M   +--+--+--+--+     +----+----+----+             +------------+
//     | 0 ===>  |  rows     |p0|p1|p2|..| 0   | 0  | 1  | 2  |  WORK_N     |p0 |p1 |p2  | 0     In a panel the numbers
//     |---------|  each     +--+--+--+--+     | |  |    |    |  columns    +------------+       lie in the order in
//     | 1       |   --->    |p0|p1|p2|..| 1   | v  |    |    |  each -->   |p0 |p1 |p2  | 1     which they are used.
//     +---------+           +--+--+--+--+     +----+----+----+             +------------+
//
// First launch: copies both operands into panels in the workspace, whatever way round they are stored. One work-item,
// one piece of one panel. What is computed from rows and columns behind the last ones is not stored.
//
// Second launch: one work-item computes tiles of C, WORK_M x WORK_N, one below the other, and is a group of its own: a
// processor's thread has nothing to share with its neighbours but the caches. A tile's sums stay in vector registers
// over all of k. For each p it loads one row of B's panel, WORK_N / WIDTH vectors, and multiplies it with each of
// WORK_M numbers of A's panel: two plain streams, no barrier, no local memory. The panel of B stays in the
// second-level cache while the tiles below each other use it.
//
// A tile has 6 x 64 elements with WIDTH 16 (24 registers for sums, 4 for B, of 32), or 14 x 32: with either PoCL 3.1 is
// ten times as fast on Sapphire Rapids cores as with the shapes for GPUs. Where C has few rows, B is read as it is
// stored, if that is along its rows: copying it would cost more than it saves (`b_direct`). With k split into parts,
// each part's sums go to a matrix of their own: see gemm_register_sum.cl.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWORK_M=6 -DWORK_N=64 -DWIDTH=16
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWORK_M=6 -DWORK_N=8 -DWIDTH=4
#include "ops/gemm/gemm_operands.cl"
#include "ops/gemm/gemm_register_sum.cl"
#include "ops/vector.cl"

#define VECTORS (WORK_N / WIDTH)

// Copies `count` p of a panel of A. Row i of op(A) lies i * step on, each p p_step on; `there` rows exist, and the last
// one stands in for those that don't.
static inline void copy_to_a_panel(__global real *panel, __global const real *from, const long step, const long p_step,
                                   const int there, const long count) {
  long row[WORK_M];
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) row[i] = min(i, there - 1) * step;
  for (long p = 0; p < count; ++p) {
#pragma unroll
    for (int i = 0; i < WORK_M; ++i) panel[i] = from[row[i]];
    from += p_step;
    panel += WORK_M;
  }
}

// The same for B and its columns, with zeros for those that don't exist.
static inline void copy_to_b_panel(__global real *panel, __global const real *from, const long step, const long p_step,
                                   const int there, const long count) {
  if (step == 1 && there == WORK_N) {
    for (long p = 0; p < count; ++p) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) STORE_VECTOR(LOAD_VECTOR(v, from), v, panel);
      from += p_step;
      panel += WORK_N;
    }
  } else if (step == 1) {
    for (long p = 0; p < count; ++p) {
      for (int j = 0; j < there; ++j) panel[j] = from[j];
      for (int j = there; j < WORK_N; ++j) panel[j] = 0;
      from += p_step;
      panel += WORK_N;
    }
  } else {
    // In pieces of a cache line's length, along which B lies.
    for (long first_p = 0; first_p < count; first_p += WIDTH) {
      const long end = min(first_p + WIDTH, count);
      for (int j = 0; j < WORK_N; ++j) {
        for (long p = first_p; p < end; ++p) panel[p * WORK_N + j] = j < there ? from[j * step + p * p_step] : 0;
      }
    }
  }
}

// What is copied, and where the copies lie: the host's GemmPanels.
typedef struct {
  // Elements of an operand as it is stored: from one row of op(A) or column of op(B) to the next, and from one p.
  long a_step, a_p_step, b_step, b_p_step;
  long a_groups;          // groups that copy A
  long a_piece, b_piece;  // p of a panel that a group copies
  long b_direct;          // of a matrix's panels of B the first ones, which are not copied but read in place
  // Of the panels: elements from one product's to the next one's, 0 if all share them; and where B's begin.
  long a_panels_apart, b_panels_apart, b_panels_first;
  long tiles;  // below each other that a group multiplies
} Panels;
SIZE_ON_THE_HOST(Panels, 96);

// Groups: first those that copy A, then those of B; each copies a piece of a panel. a_count panels of A make one matrix,
// b_count panels of B. A matrix that all products share is there once: then the other number of copies is 1.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void gemm_register_pack(
    __global const real *restrict a, const ulong a_first, __global const real *restrict b, const ulong b_first,
    __global real *restrict copies, const ulong copies_first, const Gemm gemm, const Panels panels) {
  const long group = (long)get_group_id(0);
  const int is_a = group < panels.a_groups;
  const long in_operand = is_a ? group : group - panels.a_groups;
  const long piece = is_a ? panels.a_piece : panels.b_piece;
  const long pieces = quotient(gemm.k + piece - 1, piece);
  const long panel_of_all = quotient(in_operand, pieces);
  const long first_p = (in_operand - panel_of_all * pieces) * piece;
  const long count = min(piece, gemm.k - first_p);
  copies += copies_first;
  if (is_a) {
    const long a_count = (gemm.m + WORK_M - 1) / WORK_M;
    const long product = quotient(panel_of_all, a_count);
    const long first = (panel_of_all - product * a_count) * WORK_M;
    copy_to_a_panel(copies + (panel_of_all * gemm.k + first_p) * WORK_M,
                    a + a_first + product * gemm.stride_a + first * panels.a_step + first_p * panels.a_p_step,
                    panels.a_step, panels.a_p_step, (int)min((long)WORK_M, gemm.m - first), count);
  } else {
    const long b_count = (gemm.n + WORK_N - 1) / WORK_N - panels.b_direct;
    const long product = quotient(panel_of_all, b_count);
    const long first = (panels.b_direct + panel_of_all - product * b_count) * WORK_N;
    copy_to_b_panel(copies + panels.b_panels_first + (panel_of_all * gemm.k + first_p) * WORK_N,
                    b + b_first + product * gemm.stride_b + first * panels.b_step + first_p * panels.b_p_step,
                    panels.b_step, panels.b_p_step, (int)min((long)WORK_N, gemm.n - first), count);
  }
}

// One tile of C.
static inline void compute_tile(__global const real *a, __global const real *b, const long b_step, const long count,
                         __global real *c, const long ldc, const long rows, const long columns, const real alpha,
                         const real beta) {
  vector sums[WORK_M][VECTORS];
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[i][v] = (vector)(0);
  }
  for (long p = 0; p < count; ++p) {
    vector b_row[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) b_row[v] = LOAD_VECTOR(v, b);
#pragma unroll
    for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) sums[i][v] += (vector)(a[i]) * b_row[v];
    }
    a += WORK_M;
    b += b_step;
  }

  if (rows >= WORK_M && columns >= WORK_N) {
#pragma unroll
    for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        vector result = alpha * sums[i][v];
        if (beta != 0) result += beta * LOAD_VECTOR(v, c + i * ldc);
        STORE_VECTOR(result, v, c + i * ldc);
      }
    }
  } else {
    real edge[WORK_M * WORK_N];
#pragma unroll
    for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) STORE_VECTOR(sums[i][v], i * VECTORS + v, edge);
    }
    const int rows_there = (int)min((long)WORK_M, rows);
    const int columns_there = (int)min((long)WORK_N, columns);
    for (int i = 0; i < rows_there; ++i) {
      for (int j = 0; j < columns_there; ++j) store_result(&c[i * ldc + j], edge[i * WORK_N + j], alpha, beta);
    }
  }
}

// Groups: blocks of `tiles` tiles below each other, down a column of blocks first, then the next column, which uses the
// next panel of B, then product by product, then part by part of k. `copies` are the panels of both operands.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void gemm_register_panels(
    __global const real *restrict copies, const ulong copies_first, __global const real *restrict b,
    const ulong b_first, __global real *restrict c, const ulong c_first, const Gemm gemm, const Parts parts,
    const Panels panels) {
  const long a_count = (gemm.m + WORK_M - 1) / WORK_M;
  const long b_count = (gemm.n + WORK_N - 1) / WORK_N;
  const long blocks_per_column = quotient(a_count + panels.tiles - 1, panels.tiles);
  const long group = (long)get_group_id(0);
  const long column_of_all = quotient(group, blocks_per_column);
  const long first_tile = (group - column_of_all * blocks_per_column) * panels.tiles;
  const long result = quotient(column_of_all, b_count);
  const long b_panel = column_of_all - result * b_count;
  const long part = quotient(result, gemm.batch);
  const long product = result - part * gemm.batch;
  const long first_p = part * parts.length;
  const long count = min(parts.length, gemm.k - first_p);
  const long column = b_panel * WORK_N;

  copies += copies_first;
  const int is_direct = b_panel < panels.b_direct;
  const long b_step = is_direct ? gemm.ldb : WORK_N;
  __global const real *b_from = is_direct
                                    ? b + b_first + product * gemm.stride_b + first_p * gemm.ldb + column
                                    : copies + panels.b_panels_first + product * panels.b_panels_apart +
                                          ((b_panel - panels.b_direct) * gemm.k + first_p) * WORK_N;
  __global const real *a_from = copies + product * panels.a_panels_apart + first_p * WORK_M;
  c += c_first + result * gemm.stride_c + column;
  const long tiles_end = min(a_count, first_tile + panels.tiles);
  for (long tile = first_tile; tile < tiles_end; ++tile) {
    const long row = tile * WORK_M;
    compute_tile(a_from + tile * gemm.k * WORK_M, b_from, b_step, count, c + row * gemm.ldc, gemm.ldc, gemm.m - row,
                 gemm.n - column, gemm.alpha, gemm.beta);
  }
}
