// gemm, register, through local memory: the shape for GPUs. Options: TILE_M, TILE_N, WORK_M, WORK_N, DEPTH, SLICES.
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
// Nothing waits for memory: the tiles of the next step are under way while this one's products are computed, into a
// second pair of tiles, so that one barrier a step is enough; and the numbers for the next p are read from local memory
// before the products of this p, across the barrier too. On an H200 (driver 580, float32, 4096^3, 128 x 128 blocks,
// 8 x 8 a work-item) that last part is worth 17 %: 40.1 TFLOP/s without it, 44.3 within a step, 46.8
// across; walking every second row of products backwards, and neighbours in pairs of rows, bring it to 48.1.
//
// A small C has few blocks, and a small block few work-items with as many elements. So a group may have SLICES times as
// many: each slice computes the whole block from its share of every step's p, and at the end the slices' sums are added
// up through local memory, in the slices' order. On that H200 1024^3 takes 53 us with 64 x 128 blocks in 2 slices, as
// many groups as there are compute units, 58 without slices and 61 with 128 x 128 blocks and k in 2 parts; 256^3 takes
// 6.2 us with 32 x 32 blocks in 4 slices and 10 in any shape without.
//
// Every element of A is read n / TILE_N times and every element of B m / TILE_M times from global memory, in vectors
// of 16 bytes where matrix and rows begin at multiples of that, else one by one, which costs a seventh. A's tile lies
// in local memory with m along its rows, B's with n; an operand that is stored the other way round is turned when it is
// written there, into rows that are a vector longer, so that fewer writes meet in one bank.
//
// What lies outside of A or B counts as 0 times 0, so edges need no loop of their own, and a NaN or infinity inside is
// never lost or made up. With k split into parts, each part's sums go to a matrix of their own: see register_sum.cl.
#if FLOAT64
typedef double2 vector;
#define V 2
#define STORE_VECTOR vstore2
#define LOAD_VECTOR vload2
#else
typedef float4 vector;
#define V 4
#define STORE_VECTOR vstore4
#define LOAD_VECTOR vload4
#endif
// 32 work-items beside each other cover LANES_M x LANES_N places of V x V elements, and as many again further on.
#define LANES_M 4
#define LANES_N 8
#define ITEMS_N (TILE_N / WORK_N)
#define SLICE_ITEMS (TILE_M / WORK_M * ITEMS_N)
#define ITEMS (SLICE_ITEMS * SLICES)
#define STEPS (DEPTH / SLICES)
// How the tiles lie in global memory: elements along a stored row, and stored rows that the group copies at once.
#define A_ALONG (TRANSPOSE_A ? TILE_M : DEPTH)
#define B_ALONG (TRANSPOSE_B ? DEPTH : TILE_N)
#define A_ROWS_AT_ONCE (ITEMS * V / A_ALONG)
#define B_ROWS_AT_ONCE (ITEMS * V / B_ALONG)
#define A_COPIES (TILE_M * DEPTH / (ITEMS * V))
#define B_COPIES (TILE_N * DEPTH / (ITEMS * V))
// The tiles in local memory: [p][row of C] and [p][column of C].
#define A_WIDTH (TILE_M + (TRANSPOSE_A ? 0 : V))
#define B_WIDTH (TILE_N + (TRANSPOSE_B ? V : 0))
#define A_TILE (DEPTH * A_WIDTH)
#define B_TILE (DEPTH * B_WIDTH)
// With slices the same memory holds their sums at the end: of V rows of every work-item at a time, WORK_N vectors.
#define TILES_SIZE (2 * (A_TILE + B_TILE))
#define SUMS_SIZE (WORK_N * V * ITEMS)
#if WORK_N % SLICES != 0 || STEPS % 2 != 0 || STEPS * SLICES != DEPTH
#error "no such number of slices"
#endif

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

// The numbers of one p that a work-item multiplies: vectors `apart` from each other.
static inline void read_numbers(real *numbers, const int count, __local const real *from, const int apart) {
#pragma unroll
  for (int i = 0; i < count / V; ++i) STORE_VECTOR(*(__local const vector *)(from + i * apart), i, numbers);
}

static inline void multiply(real sums[WORK_M][WORK_N], const real *a_numbers, const real *b_numbers) {
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int turn = 0; turn < WORK_N; ++turn) {
      const int j = i % 2 == 0 ? turn : WORK_N - 1 - turn;
      sums[i][j] += a_numbers[i] * b_numbers[j];
    }
  }
}

// V sums beside each other to their place in C. `plain`: all of the block is inside of C and aligned.
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

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_register_local(GEMM_PARAMETERS, const long batch,
                                                                                     const long k_of_part) {
#if SLICES == 1
  __local real a_tiles[2][A_TILE] __attribute__((aligned(128)));
  __local real b_tiles[2][B_TILE] __attribute__((aligned(128)));
  const uint slice = 0;
#else
  __local real memory[TILES_SIZE > SUMS_SIZE ? TILES_SIZE : SUMS_SIZE] __attribute__((aligned(128)));
  __local real(*const a_tiles)[A_TILE] = (__local real(*)[A_TILE])memory;
  __local real(*const b_tiles)[B_TILE] = (__local real(*)[B_TILE])(memory + 2 * A_TILE);
  const uint slice = (uint)get_local_id(0) / SLICE_ITEMS;
#endif
  const uint item = (uint)get_local_id(0);
  const uint item_of_slice = item - slice * SLICE_ITEMS;
  const uint lane = item % 32;
  const uint warp = item_of_slice / 32;
  const uint warp_row = warp / (ITEMS_N / LANES_N);
  const uint warp_column = warp - warp_row * (ITEMS_N / LANES_N);
  // Lanes go in pairs down two rows, then along: a quarter of them reads little of A and little of B.
  const int my_row = (int)(warp_row * (LANES_M * WORK_M) + (lane / (2 * LANES_N) * 2 + lane % 2) * V);
  const int my_column = (int)(warp_column * (LANES_N * WORK_N) + lane / 2 % LANES_N * V);

  const Block block = block_of_group((long)get_group_id(0), m, n, TILE_M, TILE_N);
  const long part = block.product / batch;
  const long product = block.product - part * batch;
  const long k_begin = part * k_of_part;
  const long k_end = min(k, k_begin + k_of_part);

  // The first vector of a tile that this work-item copies.
  const int a_x = (int)(item % (A_ALONG / V)) * V;
  const int a_y = (int)(item / (A_ALONG / V));
  const int b_x = (int)(item % (B_ALONG / V)) * V;
  const int b_y = (int)(item / (B_ALONG / V));
  a += a_first + product * stride_a;
  b += b_first + product * stride_b;
  a += TRANSPOSE_A ? (k_begin + a_y) * lda + block.first_row + a_x : (block.first_row + a_y) * lda + k_begin + a_x;
  b += TRANSPOSE_B ? (block.first_column + b_y) * ldb + k_begin + b_x
                   : (k_begin + b_y) * ldb + block.first_column + b_x;
  const long a_step = TRANSPOSE_A ? DEPTH * lda : DEPTH;
  const long b_step = TRANSPOSE_B ? DEPTH : DEPTH * ldb;
  // Are all vectors of the block aligned and inside, but perhaps in the last step?
  const int a_is_plain = block.first_row + TILE_M <= m && (((a_first + product * stride_a) | lda) & (V - 1)) == 0;
  const int b_is_plain = block.first_column + TILE_N <= n && (((b_first + product * stride_b) | ldb) & (V - 1)) == 0;
  const long a_rows = m - block.first_row - (TRANSPOSE_A ? a_x : a_y);
  const long b_columns = n - block.first_column - (TRANSPOSE_B ? b_y : b_x);

  vector a_copy[A_COPIES];
  vector b_copy[B_COPIES];
#define FETCH(first_p)                                                                                               \
  {                                                                                                                  \
    const long left = k_end - (first_p);                                                                             \
    fetch(a_copy, A_COPIES, a, lda, A_ROWS_AT_ONCE, a_is_plain && left >= DEPTH, TRANSPOSE_A ? left - a_y : a_rows,  \
          TRANSPOSE_A ? a_rows : left - a_x);                                                                        \
    fetch(b_copy, B_COPIES, b, ldb, B_ROWS_AT_ONCE, b_is_plain && left >= DEPTH,                                     \
          TRANSPOSE_B ? b_columns : left - b_y, TRANSPOSE_B ? left - b_x : b_columns);                               \
    a += a_step;                                                                                                     \
    b += b_step;                                                                                                     \
  }
#define PLACE(pair)                                                                                                  \
  {                                                                                                                  \
    place(a_tiles[pair], A_WIDTH, !TRANSPOSE_A, a_copy, A_COPIES, A_ROWS_AT_ONCE, a_x, a_y);                         \
    place(b_tiles[pair], B_WIDTH, TRANSPOSE_B, b_copy, B_COPIES, B_ROWS_AT_ONCE, b_x, b_y);                          \
  }
#define READ_NUMBERS(pair, p)                                                                                        \
  {                                                                                                                  \
    const int step = (int)slice * STEPS + (p);                                                                       \
    read_numbers(a_numbers[(p)&1], WORK_M, &a_tiles[pair][step * A_WIDTH + my_row], LANES_M * V);                    \
    read_numbers(b_numbers[(p)&1], WORK_N, &b_tiles[pair][step * B_WIDTH + my_column], LANES_N * V);                 \
  }

  real sums[WORK_M][WORK_N];
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) sums[i][j] = 0;
  }
  real a_numbers[2][WORK_M];
  real b_numbers[2][WORK_N];
  int pair = 0;
  if (k_begin < k_end) {
    FETCH(k_begin);
    PLACE(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    READ_NUMBERS(0, 0);
  }
  for (long first_p = k_begin; first_p < k_end; first_p += DEPTH) {
    const int is_last = first_p + DEPTH >= k_end;
    if (!is_last) FETCH(first_p + DEPTH);
#pragma unroll
    for (int p = 0; p < STEPS - 1; ++p) {
      READ_NUMBERS(pair, p + 1);
      multiply(sums, a_numbers[p & 1], b_numbers[p & 1]);
    }
    pair ^= 1;
    if (!is_last) PLACE(pair);
    barrier(CLK_LOCAL_MEM_FENCE);
    READ_NUMBERS(pair, 0);  // behind the last step for nothing, but without a condition it overlaps the products
    multiply(sums, a_numbers[1], b_numbers[1]);
  }

  c += c_first + block.product * stride_c;
  const int c_is_plain = block.first_row + TILE_M <= m && block.first_column + TILE_N <= n &&
                         (((c_first + block.product * stride_c) | ldc) & (V - 1)) == 0;
#if SLICES == 1
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; j += V) {
      store_vector(c, ldc, block.first_row + my_row + i / V * (LANES_M * V) + i % V,
                   block.first_column + my_column + j * LANES_N, c_is_plain, m, n, LOAD_VECTOR(0, &sums[i][j]), alpha,
                   beta);
    }
  }
#else
  // Every slice leaves its sums, and adds up its share of all slices', in their order.
  __local vector *const left = (__local vector *)memory + item_of_slice;
#pragma unroll
  for (int i = 0; i < WORK_M; i += V) {
    barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads tiles, or the sums before, any more
#pragma unroll
    for (int e = 0; e < WORK_N; ++e)
      left[(slice * WORK_N + e) * SLICE_ITEMS] = LOAD_VECTOR(0, &sums[i + e / (WORK_N / V)][e % (WORK_N / V) * V]);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int mine = 0; mine < WORK_N / SLICES; ++mine) {
      const int e = (int)slice * (WORK_N / SLICES) + mine;
      vector sum = left[e * SLICE_ITEMS];
#pragma unroll
      for (int other = 1; other < SLICES; ++other) sum += left[(other * WORK_N + e) * SLICE_ITEMS];
      store_vector(c, ldc, block.first_row + my_row + i * LANES_M + e / (WORK_N / V),
                   block.first_column + my_column + e % (WORK_N / V) * (LANES_N * V), c_is_plain, m, n, sum, alpha,
                   beta);
    }
  }
#endif
}
