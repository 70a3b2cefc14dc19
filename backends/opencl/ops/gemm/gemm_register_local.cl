// gemm, register_local: a tile of C in registers, through local memory, for GPUs. Options: those of gemm_operands.cl and
// gemm_register_tile.cl; TENSOR_CORES, 0 or as gemm_register_tensor.cl says.
//
//              k                        n
//        +---+---+---+            +---+---+---+         A work-group computes a block of C, TILE_M x TILE_N, and walks
//        |   |   |   |            |   | B |   |         along k in steps of DEPTH. A work-item computes WORK_M x WORK_N
//      m +---+---+---+   * ->     +---+---+---+  k      elements of the block, all in registers: for each p it reads
//        | A ===>    |            |   | | |   |         WORK_M numbers of A's tile and WORK_N of B's and multiplies
//        +---+---+---+            |   | v |   |         each with each: 8 + 8 numbers that are read serve 64 products.
//                                 +---+---+---+
//
//   step t     | global memory -> registers: tiles of step t+1 ...........| registers -> local memory, 2nd pair
//              | local -> registers: p = 1 | p = 2 | ... | p = DEPTH-1    | barrier | p = 0 of step t+1
//              | products of         p = 0 | p = 1 | ... | p = DEPTH-2    |           p = DEPTH-1
//
// Nothing waits for memory. The tiles of the next step are on their way while this step's products are computed, and go
// into a second pair of tiles, so that one barrier a step is enough. The numbers for the next p are read from local
// memory before the products of this p, across the barrier too: on an H200 (driver 580, float32, 4096^3) that is worth
// 17 %. Walking every second row of products backwards, and lanes in pairs of rows (gemm_register_fma.cl), adds 3 %.
//
// A small C has few blocks, and a small block has few work-items. So a group may have SLICES times as many: each slice
// computes the whole block from its share of every step's p, and at the end the slices' sums are added up through local
// memory, in the slices' order. On that H200 1024^3 takes 53 us with 2 slices and 58 without, 256^3 6.2 us with 4
// slices and 10 without.
//
// Every element of A is read n / TILE_N times and every element of B m / TILE_M times from global memory, in vectors
// of 16 bytes where matrix and rows begin at multiples of that, else one by one, which costs a seventh. A's tile lies
// in local memory with m along its rows, B's with n; an operand that is stored the other way round is turned when it is
// written there, into rows that are a vector longer, so that fewer writes meet in one bank.
//
// What lies outside of A or B counts as 0 times 0, so edges need no loop of their own, and a NaN or infinity inside is
// never lost or made up. With k split into parts, each part's sums go to a place of their own, and the group of a block
// that ends last adds them up (JOINED, joined_parts.cl); or to a matrix of their own, and another launch adds these up:
// see gemm_register_sum.cl.
//
// On NVIDIA's sm_80 and newer small tiles of float32, and float64 on its tensor cores: the same, but with more pairs of tiles that are filled without registers, number by
// number, so that it does not matter how matrices are aligned or turned. See gemm_register_fma_ahead.cl and
// gemm_register_tensor.cl.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0
// Compiles alone with: -cl-std=CL3.0 -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DJOINED=1
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=1 -DSTAGES=2 -DTENSOR_CORES=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE_M=32 -DTILE_N=32 -DWORK_M=8 -DWORK_N=4 -DDEPTH=32 -DSLICES=4 -DSTAGES=3 -DTENSOR_CORES=0 -DASYNC=1
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=4 -DWORK_N=8 -DDEPTH=8 -DSLICES=1 -DSTAGES=5 -DTENSOR_CORES=80
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=4 -DWORK_N=8 -DDEPTH=8 -DSLICES=1 -DSTAGES=5 -DTENSOR_CORES=90
#include "ops/gemm/gemm_operands.cl"
#include "ops/gemm/gemm_register_sum.cl"

#define A_TURNED (!TRANSPOSE_A)
#define B_TURNED TRANSPOSE_B
#define RUN V
#include "ops/gemm/gemm_register_tile.cl"
#if TENSOR_CORES
#include "ops/gemm/gemm_register_tensor.cl"
#else
#include "ops/gemm/gemm_register_fma_ahead.cl"
#endif
#include "ops/gemm/gemm_register_store.cl"

#define COPIED (AHEAD ? 1 : V)
// How the tiles lie in global memory: elements along a stored row, and stored rows that the group copies at once.
#define A_ALONG (TRANSPOSE_A ? TILE_M : DEPTH)
#define B_ALONG (TRANSPOSE_B ? DEPTH : TILE_N)
#define A_ROWS_AT_ONCE (ITEMS * COPIED / A_ALONG)
#define B_ROWS_AT_ONCE (ITEMS * COPIED / B_ALONG)
#define A_COPIES (TILE_M * DEPTH / (ITEMS * COPIED))
#define B_COPIES (TILE_N * DEPTH / (ITEMS * COPIED))

// This work-item's share of the tiles: what is left of the matrices from where it begins, and where in the stored tiles
// its first element or vector is, x along a stored row.
struct Source {
  long lda, ldb;
  long k_end;
  int a_x, a_y, b_x, b_y;
#if AHEAD
  int a_inside, b_inside;
#else
  long a_rows, b_columns;
  int a_is_plain, b_is_plain;  // all vectors of the block are aligned and inside, but perhaps in the last step
#endif
};

#if AHEAD
// This work-item's share of a tile, on its way from global to local memory: elements at stored rows `apart` from each
// other. x and y: where the first lies in the stored tile. `rows` and `columns` are how many of the matrix there are
// from `from` on.
static inline void start_copies(__local real *tile, const int width, const int turned, const int copies,
                                __global const real *from, const long ld, const int apart, const int x, const int y,
                                const int rows, const int columns) {
#pragma unroll
  for (int i = 0; i < copies; ++i) {
    const int stored_y = y + i * apart;
    start_copy(&tile[turned ? x * width + stored_y : stored_y * width + x], from, i * apart < rows && columns > 0);
    from += apart * ld;
  }
}

ALWAYS_INLINE void start_tiles(SHARE_POINTERS, const Source *s, __local real *a_tile, __local real *b_tile, const long first_p) {
  const int left = (int)min(s->k_end - first_p, (long)DEPTH);
  start_copies(a_tile, A_WIDTH, A_TURNED, A_COPIES, a, s->lda, A_ROWS_AT_ONCE, s->a_x, s->a_y,
               TRANSPOSE_A ? left - s->a_y : s->a_inside, TRANSPOSE_A ? s->a_inside : left - s->a_x);
  start_copies(b_tile, B_WIDTH, B_TURNED, B_COPIES, b, s->ldb, B_ROWS_AT_ONCE, s->b_x, s->b_y,
               TRANSPOSE_B ? s->b_inside : left - s->b_y, TRANSPOSE_B ? left - s->b_x : s->b_inside);
}
#else

struct Copies {
  vector a[A_COPIES];
  vector b[B_COPIES];
};

// Up to V elements; zeros for the rest, and for all of them if `count` is 0 or less.
static inline vector load_some(__global const real *from, const long count) {
  real some[V];
#pragma unroll
  for (int i = 0; i < V; ++i) some[i] = i < count ? from[i] : 0;
  return LOAD_VECTOR(0, some);
}

// This work-item's share of a tile, from global memory: vectors at stored rows `apart` from each other. `rows` and
// `columns` are how many of the matrix there are from `from` on; not asked if the tile is whole.
static inline void fetch(vector *copy, const int copies, __global const real *from, const long ld, const int apart,
                  const int whole, const long rows, const long columns) {
  if (whole) {
#pragma unroll
    for (int i = 0; i < copies; ++i) copy[i] = *(__global const vector *)(from + i * apart * ld);
  } else {
#pragma unroll
    for (int i = 0; i < copies; ++i) copy[i] = load_some(from + i * apart * ld, i * apart < rows ? columns : 0);
  }
}

// The same share to local memory, as it is or turned. x and y: where the first vector lies in the stored tile.
static inline void place(__local real *tile, const int width, const int turned, const vector *copy, const int copies,
                  const int apart, const int x, const int y) {
#pragma unroll
  for (int i = 0; i < copies; ++i) {
    if (turned) {
      real elements[V];
      STORE_VECTOR(copy[i], 0, elements);
#pragma unroll
      for (int j = 0; j < V; ++j) tile[(x + j) * width + y + i * apart] = elements[j];
    } else {
      *(__local vector *)&tile[(y + i * apart) * width + x] = copy[i];
    }
  }
}

ALWAYS_INLINE void fetch_tiles(Copies *copies, SHARE_POINTERS, const Source *s, const long first_p) {
  const long left = s->k_end - first_p;
  fetch(copies->a, A_COPIES, a, s->lda, A_ROWS_AT_ONCE, s->a_is_plain && left >= DEPTH,
        TRANSPOSE_A ? left - s->a_y : s->a_rows, TRANSPOSE_A ? s->a_rows : left - s->a_x);
  fetch(copies->b, B_COPIES, b, s->ldb, B_ROWS_AT_ONCE, s->b_is_plain && left >= DEPTH,
        TRANSPOSE_B ? s->b_columns : left - s->b_y, TRANSPOSE_B ? left - s->b_x : s->b_columns);
}

ALWAYS_INLINE void place_tiles(const Copies *copies, const Source *s, __local real *a_tile, __local real *b_tile) {
  place(a_tile, A_WIDTH, A_TURNED, copies->a, A_COPIES, A_ROWS_AT_ONCE, s->a_x, s->a_y);
  place(b_tile, B_WIDTH, B_TURNED, copies->b, B_COPIES, B_ROWS_AT_ONCE, s->b_x, s->b_y);
}
#endif

// The block of C, or of a part's sums. `plain`: all of it is inside of C and aligned.
struct Results {
  __global real *c;
  long ldc;
  Block block;
  int is_plain;
  long m, n;
  real alpha, beta;
};

// V sums beside each other to their place in C.
static inline void store_vector(__global real *c, const long ldc, const long row, const long column, const int plain,
                                const long m, const long n, const vector sums, const real alpha, const real beta) {
  __global real *const place_in_c = c + row * ldc + column;
  if (plain) {
    vector result = alpha * sums;
    if (beta != 0) result += beta * *(__global const vector *)place_in_c;
    *(__global vector *)place_in_c = result;
  } else if (row < m) {
    real elements[V];
    STORE_VECTOR(sums, 0, elements);
#pragma unroll
    for (int x = 0; x < V; ++x) {
      if (column + x < n) store_result(place_in_c + x, elements[x], alpha, beta);
    }
  }
}

ALWAYS_INLINE int is_inside(const Results *results, const int row, const int column) {
  return results->block.first_row + row < results->m && results->block.first_column + column < results->n;
}

ALWAYS_INLINE void store_run(const Results *results, const int row, const int column, const real *run) {
  store_vector(results->c, results->ldc, results->block.first_row + row, results->block.first_column + column,
               results->is_plain, results->m, results->n, LOAD_VECTOR(0, run), results->alpha, results->beta);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_register_local(
    GEMM_OPERANDS WHERE_PARTS_MEET, const Gemm gemm, const Parts parts) {
  DECLARE_TILES
  const Share share = share_of_item();
  const Block block = block_of_group((long)get_group_id(0), gemm.m, gemm.n, TILE_M, TILE_N);
  const long part = quotient(block.product, gemm.batch);
  const long product = block.product - part * gemm.batch;
  const long k_begin = part * parts.length;

  Source source;
  source.a_x = (int)(share.item % (A_ALONG / COPIED)) * COPIED;
  source.a_y = (int)(share.item / (A_ALONG / COPIED));
  source.b_x = (int)(share.item % (B_ALONG / COPIED)) * COPIED;
  source.b_y = (int)(share.item / (B_ALONG / COPIED));
  a += a_first + product * gemm.stride_a;
  b += b_first + product * gemm.stride_b;
  a += TRANSPOSE_A ? (k_begin + source.a_y) * gemm.lda + block.first_row + source.a_x
                   : (block.first_row + source.a_y) * gemm.lda + k_begin + source.a_x;
  b += TRANSPOSE_B ? (block.first_column + source.b_y) * gemm.ldb + k_begin + source.b_x
                   : (k_begin + source.b_y) * gemm.ldb + block.first_column + source.b_x;
  source.lda = gemm.lda;
  source.ldb = gemm.ldb;
  const long a_step = TRANSPOSE_A ? DEPTH * gemm.lda : DEPTH;
  const long b_step = TRANSPOSE_B ? DEPTH : DEPTH * gemm.ldb;
  source.k_end = min(gemm.k, k_begin + parts.length);
  const long a_rows = gemm.m - block.first_row - (TRANSPOSE_A ? source.a_x : source.a_y);
  const long b_columns = gemm.n - block.first_column - (TRANSPOSE_B ? source.b_y : source.b_x);
#if AHEAD
  source.a_inside = (int)min(a_rows, (long)TILE_M);
  source.b_inside = (int)min(b_columns, (long)TILE_N);
#else
  source.a_rows = a_rows;
  source.b_columns = b_columns;
  source.a_is_plain =
      block.first_row + TILE_M <= gemm.m && (((a_first + product * gemm.stride_a) | gemm.lda) & (V - 1)) == 0;
  source.b_is_plain =
      block.first_column + TILE_N <= gemm.n && (((b_first + product * gemm.stride_b) | gemm.ldb) & (V - 1)) == 0;
#endif
  real sums[WORK_M][WORK_N];
#if AHEAD
  multiply_tiles(sums, tiles, share, a, b, 0, a_step, b_step, &source, k_begin, source.k_end);
#else
  Copies copies;
  multiply_tiles(sums, tiles, share, a, b, 0, a_step, b_step, &source, &copies, k_begin, source.k_end);
#endif

  const ulong first_result = c_first + (JOINED ? product : block.product) * gemm.stride_c;
  const int c_is_plain = block.first_row + TILE_M <= gemm.m && block.first_column + TILE_N <= gemm.n &&
                         ((first_result | gemm.ldc) & (V - 1)) == 0;
  const Results results = {c + first_result, gemm.ldc, block, c_is_plain, gemm.m, gemm.n, gemm.alpha, gemm.beta};
#if JOINED
  __local int is_last;
  const long blocks = quotient((long)get_num_groups(0), parts.count);
  const long number = (long)get_group_id(0) - part * blocks;
  const Joint joint = joint_of(sums_of_parts + sums_first, number, part, parts.count);
  store_tiles(sums, tiles, share, &results, joint);
  if (comes_last(&counters[counters_first + number], parts.count, &is_last)) store_joined(joint, share, &results);
#else
  store_tiles(sums, tiles, share, &results);
#endif
}
