// kernel_regression by tiles: products of TILE_Q packed queries and TILE_R packed training rows, in registers. Options:
// those of kernel_regression_number.cl; TILE_Q, TILE_R; WORK_Q, WORK_R, of a work-item; DEPTH, of a step.
//
//            r0 r1 r2 r3 ...           A work-item has WORK_Q x WORK_R sums, in vectors of WIDTH training rows. Of each p
//        q0  +--------+--------+       it reads WORK_Q numbers and WORK_R, and multiplies each with each.
//        q1  | item 0 | item 1 |
//            +--------+--------+       Several work-items: steps of DEPTH p are copied to local memory, one pair of steps
//        q2  | item 2 | item 3 |       ahead, and read from there. A work-item alone, for processors: it reads what was
//        q3  |        |        |       packed in place, two plain streams.
//            +--------+--------+
//
// A sum is added up along p alone, so that its bits do not depend on the tile.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=8 -DDP4A=0 -DTILE_Q=14 -DTILE_R=16 -DWORK_Q=14 -DWORK_R=16 -DDEPTH=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=8
#include "ops/kernel_regression/kernel_regression_number.cl"

#define ITEMS_R (TILE_R / WORK_R)
#define ITEMS (TILE_Q / WORK_Q * ITEMS_R)
#define VECTORS (WORK_R / WIDTH)
// Training rows from one of a work-item's vectors to its next.
#define VECTOR_STEP (TILE_R / VECTORS)
#if TILE_Q % WORK_Q || TILE_R % WORK_R || WORK_R % WIDTH
#error "the tile is no multiple of what a work-item computes"
#endif

// A work-item's sums, and WIDTH of a query beside each other.
#define PRODUCTS(sums) vector sums[WORK_Q][VECTORS]
#define RUN_OF(sums, i, v) (sums)[i][v]

// Of the tile, a work-item's query i and the first row of its vector v.
static inline int query_of(const int item, const int i) {
  return item / ITEMS_R * WORK_Q + i;
}
static inline int row_of(const int item, const int v) {
  return item % ITEMS_R * WIDTH + v * VECTOR_STEP;
}

static inline void clear_sums(PRODUCTS(sums)) {
#pragma unroll
  for (int i = 0; i < WORK_Q; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[i][v] = (vector)(0);
  }
}

// What is in local memory begins at whole vectors. A vload may stand anywhere, so that NVIDIA's compiler loads number by
// number; a pointer to a vector says where.
#if ITEMS == 1
#define TILE_MEMORY __global
#define TAKE_VECTOR(from) LOAD_VECTOR(0, from)
#define PUT_VECTOR(numbers, to) STORE_VECTOR(numbers, 0, to)
#else
#define TILE_MEMORY __local
#define TAKE_VECTOR(from) (*(__local const vector*)(from))
#define PUT_VECTOR(numbers, to) (*(__local vector*)(to) = (numbers))
#endif
// Adds the products of one p: of the numbers of this work-item's queries and training rows, the first of each.
static inline void multiply(PRODUCTS(sums), TILE_MEMORY const number* of_queries,
                            TILE_MEMORY const number* of_rows) {
  vector rows[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) rows[v] = TAKE_VECTOR(of_rows + v * VECTOR_STEP);
#if ITEMS > 1
  number queries[WORK_Q];
#pragma unroll
  for (int i = 0; i < WORK_Q; i += WIDTH) {
    STORE_VECTOR(TAKE_VECTOR(of_queries + i), 0, queries + i);
  }
#else
  TILE_MEMORY const number* const queries = of_queries;
#endif
#pragma unroll
  for (int i = 0; i < WORK_Q; ++i) {
    const vector query = (vector)(queries[i]);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[i][v] = multiply_add(query, rows[v], sums[i][v]);
  }
}

#if ITEMS == 1
static inline void multiply_tile(PRODUCTS(sums), __global const number* queries,
                                 __global const number* rows, const long depth) {
  clear_sums(sums);
  for (long p = 0; p < depth; ++p) multiply(sums, queries + p * TILE_Q, rows + p * TILE_R);
}
#else
#define STAGED (DEPTH * (TILE_Q + TILE_R))
#define STAGED_NUMBERS (2 * STAGED)
#define QUERY_COPIES (DEPTH * TILE_Q / WIDTH / ITEMS)
#define ROW_COPIES (DEPTH * TILE_R / WIDTH / ITEMS)
#if QUERY_COPIES * WIDTH * ITEMS != DEPTH * TILE_Q || ROW_COPIES * WIDTH * ITEMS != DEPTH * TILE_R || WORK_Q % WIDTH
#error "the work-items do not share out a step evenly"
#endif

typedef struct {
  vector queries[QUERY_COPIES];
  vector rows[ROW_COPIES];
} Copies;

// This work-item's share of a step, which lies in one piece in its panel.
static inline void fetch(Copies* copies, __global const number* queries, __global const number* rows, const int item) {
#pragma unroll
  for (int i = 0; i < QUERY_COPIES; ++i) copies->queries[i] = ((__global const vector*)queries)[i * ITEMS + item];
#pragma unroll
  for (int i = 0; i < ROW_COPIES; ++i) copies->rows[i] = ((__global const vector*)rows)[i * ITEMS + item];
}
static inline void place(__local number* staged, const Copies* copies, const int item) {
#pragma unroll
  for (int i = 0; i < QUERY_COPIES; ++i) ((__local vector*)staged)[i * ITEMS + item] = copies->queries[i];
#pragma unroll
  for (int i = 0; i < ROW_COPIES; ++i) {
    ((__local vector*)(staged + DEPTH * TILE_Q))[i * ITEMS + item] = copies->rows[i];
  }
}

// `staged` holds two steps. The barrier of a step's end is the one that the next tile needs, too.
static inline void multiply_tile(PRODUCTS(sums), __local number* staged, __global const number* queries,
                                 __global const number* rows, const long depth, const int item) {
  const int first_query = query_of(item, 0);
  const int first_row = row_of(item, 0);
  Copies copies;
  clear_sums(sums);
  fetch(&copies, queries, rows, item);
  place(staged, &copies, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  int read = 0;
#pragma unroll 1
  for (long p = 0; p < depth; p += DEPTH) {
    const int is_last = p + DEPTH >= depth;
    if (!is_last) fetch(&copies, queries + (p + DEPTH) * TILE_Q, rows + (p + DEPTH) * TILE_R, item);
    __local const number* const step = staged + read;
#pragma unroll
    for (int i = 0; i < DEPTH; ++i) {
      multiply(sums, step + i * TILE_Q + first_query, step + DEPTH * TILE_Q + i * TILE_R + first_row);
    }
    read = STAGED - read;
    if (!is_last) place(staged + read, &copies, item);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif
