// A tile in registers, multiplied by each work-item alone: for each p it reads WORK_M numbers of A and WORK_N of B and
// multiplies each with each. Compiled behind gemm_register_tile.cl; two pairs of tiles in turn.
#define LANES_M 4
#define LANES_N 8
#define ROW_OF(i) ((i) / V * (LANES_M * V) + (i) % V)
#define COLUMN_OF(j) ((j) * LANES_N)
#define PADDING(turned) ((turned) ? V : 0)
#define STEPS (DEPTH / SLICES)
#if STEPS % 2 != 0 || STEPS * SLICES != DEPTH || STAGES != 2
#error "no such depth"
#endif

static inline Spot spot_of_item(const uint item_of_slice) {
  const uint lane = item_of_slice % 32;
  const uint warp = item_of_slice / 32;
  const uint warp_row = warp / (ITEMS_N / LANES_N);
  const uint warp_column = warp - warp_row * (ITEMS_N / LANES_N);
  // Lanes are numbered in pairs, one below the other, and the pairs along the row. So the lanes of a quarter of a warp,
  // which read together, read few different elements of A and few of B.
  Spot spot;
  spot.row = (int)(warp_row * (LANES_M * WORK_M) + (lane / (2 * LANES_N) * 2 + lane % 2) * V);
  spot.column = (int)(warp_column * (LANES_N * WORK_N) + lane / 2 % LANES_N * V);
  return spot;
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

#define READ_NUMBERS(pair, p)                                                                           \
  {                                                                                                     \
    const int step = (int)slice * STEPS + (p);                                                          \
    read_numbers(a_numbers[(p)&1], WORK_M, &a_tiles[pair][step * A_WIDTH + spot.row], LANES_M * V);     \
    read_numbers(b_numbers[(p)&1], WORK_N, &b_tiles[pair][step * B_WIDTH + spot.column], LANES_N * V);  \
  }

// Declares `sums`, and adds up the products of all p from `begin` to `end`. Behind the last step numbers are read once
// more, for nothing: a condition that prevents it would keep reads and products from overlapping.
#define MULTIPLY_TILES(begin, end)                                        \
  real sums[WORK_M][WORK_N];                                              \
  _Pragma("unroll") for (int i = 0; i < WORK_M; ++i) {                    \
    _Pragma("unroll") for (int j = 0; j < WORK_N; ++j) sums[i][j] = 0;    \
  }                                                                       \
  {                                                                       \
    real a_numbers[2][WORK_M];                                            \
    real b_numbers[2][WORK_N];                                            \
    int pair = 0;                                                         \
    if ((begin) < (end)) {                                                \
      FETCH(begin);                                                       \
      PLACE(0);                                                           \
      barrier(CLK_LOCAL_MEM_FENCE);                                       \
      READ_NUMBERS(0, 0);                                                 \
    }                                                                     \
    for (long first_p = (begin); first_p < (end); first_p += DEPTH) {     \
      const int is_last = first_p + DEPTH >= (end);                       \
      if (!is_last) FETCH(first_p + DEPTH);                               \
      _Pragma("unroll") for (int p = 0; p < STEPS - 1; ++p) {             \
        READ_NUMBERS(pair, p + 1);                                        \
        multiply(sums, a_numbers[p & 1], b_numbers[p & 1]);               \
      }                                                                   \
      pair ^= 1;                                                          \
      if (!is_last) PLACE(pair);                                          \
      barrier(CLK_LOCAL_MEM_FENCE);                                       \
      READ_NUMBERS(pair, 0);                                              \
      multiply(sums, a_numbers[1], b_numbers[1]);                         \
    }                                                                     \
  }
