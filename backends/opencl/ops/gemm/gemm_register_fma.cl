// A tile in registers, multiplied by each work-item alone: for each p it reads WORK_M numbers of A and WORK_N of B and
// multiplies each with each. Two pairs of tiles in turn, or with ASYNC more (gemm_register_fma_ahead.cl).
//
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V
#include "ops/gemm/gemm_register_tile.cl"

#define LANES_M 4
#define LANES_N 8
#define ROW_OF(i) ((i) / V * (LANES_M * V) + (i) % V)
#define COLUMN_OF(j) ((j) * LANES_N)
#define STEPS (DEPTH / SLICES)
#if STEPS % 2 != 0 || STEPS * SLICES != DEPTH || (STAGES != 2 && !ASYNC)
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

// What one p of a pair of tiles holds for this work-item.
ALWAYS_INLINE void read_step(real *a_numbers, real *b_numbers, const Tiles tiles, const int pair, const int p,
                             const Share share) {
  const int step = (int)share.slice * STEPS + p;
  read_numbers(a_numbers, WORK_M, &tiles.a[pair][step * A_WIDTH + share.spot.row], LANES_M * V);
  read_numbers(b_numbers, WORK_N, &tiles.b[pair][step * B_WIDTH + share.spot.column], LANES_N * V);
}

#if !ASYNC
// Sets `sums` to those of the products of all p from `begin` to `end`. Behind the last step numbers are read once more,
// for nothing: a condition that prevents it would keep reads and products from overlapping.
ALWAYS_INLINE void multiply_tiles(real sums[WORK_M][WORK_N], const Tiles tiles, const Share share, SHARE_POINTERS, const long a_step,
                                  const long b_step, const Source *source, Copies *copies, const long begin, const long end) {
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) sums[i][j] = 0;
  }
  real a_numbers[2][WORK_M];
  real b_numbers[2][WORK_N];
  int pair = 0;
  if (begin < end) {
    fetch_tiles(copies, a, b, places, source, begin);
    place_tiles(copies, source, tiles.a[0], tiles.b[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    read_step(a_numbers[0], b_numbers[0], tiles, 0, 0, share);
  }
  for (long first_p = begin; first_p < end; first_p += DEPTH) {
    const int is_last = first_p + DEPTH >= end;
    a += a_step;
    b += b_step;
    places += DEPTH;
    if (!is_last) fetch_tiles(copies, a, b, places, source, first_p + DEPTH);
#pragma unroll
    for (int p = 0; p < STEPS - 1; ++p) {
      read_step(a_numbers[(p + 1) & 1], b_numbers[(p + 1) & 1], tiles, pair, p + 1, share);
      multiply(sums, a_numbers[p & 1], b_numbers[p & 1]);
    }
    pair ^= 1;
    if (!is_last) place_tiles(copies, source, tiles.a[pair], tiles.b[pair]);
    barrier(CLK_LOCAL_MEM_FENCE);
    read_step(a_numbers[0], b_numbers[0], tiles, pair, 0, share);
    multiply(sums, a_numbers[1], b_numbers[1]);
  }
}
#endif
