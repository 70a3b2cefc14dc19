// kernel_regression by tiles: products of TILE_Q packed queries and TILE_R packed training rows in float64, by NVIDIA's
// tensor cores. In place of kernel_regression_products.cl, with its options, and TENSOR_CORES of nvidia_float64.cl; STAGES.
//
//            rows                      A warp has 8 WORK_Q x 4 WORK_R sums, by instructions of 16 x 8. Which queries and
//        +--------+--------+           rows these are is ours to say: as in gemm_register_tensor.cl a lane reads two
//    q   | warp 0 | warp 1 |           neighbours at a time, its sums are four neighbours of a query (a vector), and a
//        +--------+--------+           step's rows in local memory are 4 numbers longer than the tile.
//        | warp 2 | warp 3 |
//        +--------+--------+           Steps of DEPTH p go round in local memory, STAGES of them, by copies that pass no
//                                      register; the first ones of a tile arrive while nothing is multiplied, which
//                                      other groups of the multiprocessor make up for.
//
// A sum is added up along p alone, and every tile takes the same instruction, so that its bits do not depend on the tile.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=4 -DWORK_R=8 -DDEPTH=8 -DSTAGES=4 -DTENSOR_CORES=90
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=32 -DTILE_R=64 -DWORK_Q=4 -DWORK_R=4 -DDEPTH=16 -DSTAGES=3 -DTENSOR_CORES=80
#include "ops/kernel_regression/kernel_regression_number.cl"
#include "ops/nvidia_float64.cl"
#include "ops/nvidia_warp.cl"

#define ITEMS_R (TILE_R / WORK_R)
#define ITEMS (TILE_Q / WORK_Q * ITEMS_R)
#define VECTORS (WORK_R / WIDTH)
#define LANES_Q 8
#define LANES_R 4
#define WARPS_R (ITEMS_R / LANES_R)
#define PADDING 4
#define QUERY_STEP (TILE_Q + PADDING)
#define ROW_STEP (TILE_R + PADDING)
#define STAGED (DEPTH * (QUERY_STEP + ROW_STEP))
#define STAGED_NUMBERS (STAGES * STAGED)
#define P_AT_ONCE 4
// Of numbers, which a copy takes two of.
#define COPIED 2
#define QUERY_COPIES (DEPTH * TILE_Q / COPIED / ITEMS)
#define ROW_COPIES (DEPTH * TILE_R / COPIED / ITEMS)
#if !FLOAT64 || WIDTH != 4 || DEPTH % P_AT_ONCE || STAGES < 2
#error "no such type, width, depth or number of stages"
#endif
#if WORK_Q % 2 || WORK_R % WIDTH || TILE_Q % (LANES_Q * WORK_Q) || TILE_R % (LANES_R * WORK_R)
#error "the tile is no multiple of what a warp computes"
#endif
#if QUERY_COPIES * COPIED * ITEMS != DEPTH * TILE_Q || ROW_COPIES * COPIED * ITEMS != DEPTH * TILE_R
#error "the work-items do not share out a step evenly"
#endif

// A work-item's sums, and WIDTH of a query beside each other.
#define PRODUCTS(sums) number sums[WORK_Q][WORK_R]
#define RUN_OF(sums, i, v) vload4(v, (sums)[i])
#define PUT_VECTOR(numbers, to) (*(__local vector*)(to) = (numbers))

// Of the tile, a work-item's query i and the first row of its vector v.
static inline int query_of(const int item, const int i) {
  return item / 32 / WARPS_R * (LANES_Q * WORK_Q) + item % 32 / LANES_R * 2 + i / 2 * 16 + i % 2;
}
static inline int row_of(const int item, const int v) {
  return item / 32 % WARPS_R * (LANES_R * WORK_R) + item % LANES_R * WIDTH + v * 16;
}

// This work-item's share of a step of one operand, from its panel to local memory.
ALWAYS_INLINE void start_copies(__local number* to, __global const number* from, const int width, const int copies,
                                const int item) {
#pragma unroll
  for (int i = 0; i < copies; ++i) {
    const int place = (i * ITEMS + item) * COPIED;
    const int p = small_quotient(place, width);
    start_copy((uint)(size_t)(to + p * (width + PADDING) + (place - p * width)), (__global const uchar*)(from + place));
  }
}

typedef double2 pair;

// Adds the products of a step. `of_queries`, `of_rows`: where this work-item's first numbers lie in it.
ALWAYS_INLINE void multiply_step(PRODUCTS(sums), __local const number* of_queries, __local const number* of_rows) {
#pragma unroll
  for (int p = 0; p < DEPTH; p += P_AT_ONCE) {
    number queries[WORK_Q];
    number rows[WORK_R / 2];
#pragma unroll
    for (int i = 0; i < WORK_Q / 2; ++i) {
      vstore2(*(__local const pair*)(of_queries + p * QUERY_STEP + i * 16), i, queries);
    }
#pragma unroll
    for (int j = 0; j < WORK_R / 4; ++j) vstore2(*(__local const pair*)(of_rows + p * ROW_STEP + j * 16), j, rows);
#pragma unroll
    for (int i = 0; i < WORK_Q; i += 2) {
#pragma unroll
      for (int j = 0; j < WORK_R / 2; ++j) {
        const int row = j / 2 * WIDTH + j % 2;
        multiply_16x8(&sums[i][row], &sums[i + 1][row], queries[i], queries[i + 1], rows[j]);
      }
    }
  }
}

// `staged` holds STAGES steps. When it returns, nobody reads them any more.
ALWAYS_INLINE void multiply_tile(PRODUCTS(sums), __local number* staged, __global const number* queries,
                                 __global const number* rows, const long depth, const int item) {
  const int lane = item % 32;
  const int of_queries = lane % 4 * QUERY_STEP + item / 32 / WARPS_R * (LANES_Q * WORK_Q) + lane / 4 * 2;
  const int of_rows =
      DEPTH * QUERY_STEP + lane % 4 * ROW_STEP + item / 32 % WARPS_R * (LANES_R * WORK_R) + lane / 4 * 2;
  const int steps = (int)(depth / DEPTH);
#pragma unroll
  for (int i = 0; i < WORK_Q; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_R; ++j) sums[i][j] = 0;
  }
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) {
    if (step < steps) {
      start_copies(staged + step * STAGED, queries, TILE_Q, QUERY_COPIES, item);
      start_copies(staged + step * STAGED + DEPTH * QUERY_STEP, rows, TILE_R, ROW_COPIES, item);
    }
    close_copies();
    queries += DEPTH * TILE_Q;
    rows += DEPTH * TILE_R;
  }
  int read = 0;
  int write = STAGES - 1;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_for_copies();
    // The step is there for all, and nobody reads any more what the next one replaces.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (step + STAGES - 1 < steps) {
      start_copies(staged + write * STAGED, queries, TILE_Q, QUERY_COPIES, item);
      start_copies(staged + write * STAGED + DEPTH * QUERY_STEP, rows, TILE_R, ROW_COPIES, item);
    }
    close_copies();
    queries += DEPTH * TILE_Q;
    rows += DEPTH * TILE_R;
    multiply_step(sums, staged + read * STAGED + of_queries, staged + read * STAGED + of_rows);
    write = read;
    read = read + 1 == STAGES ? 0 : read + 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
