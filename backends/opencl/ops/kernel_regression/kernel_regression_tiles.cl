// kernel_regression by tiles ("fused", "exact_bytes"): the states of queries after a block of training rows. Nothing of
// the size queries x training rows is written. Options: those of kernel_regression_products.cl; PANELS, BLOCK_ROWS.
//
//              a block of BLOCK_ROWS training rows, packed       A group computes PANELS x TILE_Q queries and one block.
//              tile of TILE_R  tile   ...                        A tile's products stay in registers until they are
//             +---------------+------+------                     distances, which go to local memory with the least of
//   TILE_Q    |  products     |      |                           every WIDTH. Then each query has a work-item of its own:
//   queries   |               |      |                           it passes over whatever is too far away to weigh, looks
//             +---------------+------+------                     at the rest one by one, and keeps the state, which lies
//   PANELS    |               |      |                           in global memory. With a large order few rows are near
//   times     +---------------+------+------                     enough, most of them where a block begins.
//                    | least, sums
//                    v                                           kernel_regression_join.cl makes results of the blocks'
//             states of (query, block)                           states.
//
// Every packed query is read once a tile of training rows, every training row once a group of queries. Groups that follow
// each other share a block of training rows, which caches hold.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DBLOCK_ROWS=2048
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=8 -DDP4A=0 -DTILE_Q=14 -DTILE_R=16 -DWORK_Q=14 -DWORK_R=16 -DDEPTH=1 -DPANELS=10 -DBLOCK_ROWS=2048
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=2 -DWIDTH=16 -DDP4A=0 -DTILE_Q=12 -DTILE_R=32 -DWORK_Q=12 -DWORK_R=32 -DDEPTH=1 -DPANELS=10 -DBLOCK_ROWS=2048
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=1 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DBLOCK_ROWS=2048
#include "ops/kernel_regression/kernel_regression_products.cl"
#include "ops/kernel_regression/kernel_regression_state.cl"
#include "ops/kernel_regression/kernel_regression_tiling.cl"

#define QUERIES (PANELS * TILE_Q)
#define PARTS (TILE_R / WIDTH)
// One more, so that neighbouring queries lie in different banks.
#define PART_STEP (PARTS + 1)
// A work-item alone waits for nobody; PoCL would keep its registers in memory across a barrier.
#if ITEMS > 1
#define WAIT_FOR_ALL() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define WAIT_FOR_ALL()
#endif
#if BLOCK_ROWS % TILE_R
#error "a block is no multiple of the tile"
#endif

// Few rows are near. A compiler that takes the loops over them for the hottest ones keeps their constants in the registers
// that products need.
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect)
#define IS_RARE(condition) __builtin_expect(condition, 0)
#endif
#endif
#ifndef IS_RARE
#define IS_RARE(condition) (condition)
#endif

// What a group's work-items tell each other.
typedef struct {
  // While a tile is multiplied, its steps lie where its distances come: so more groups share a multiprocessor.
  union {
    apart distances[TILE_Q * TILE_R];
    vector aligned;
#if ITEMS > 1
    number staged[2 * STAGED];
#endif
  } tile;
  apart leasts_of_parts[TILE_Q * PART_STEP];
  apart leasts[QUERIES];     // of the rows that each query has met
  apart furthests[QUERIES];  // what is further away weighs nothing
} Met;

// Distances from this work-item's products.
static inline void place_distances(__local Met* met, const vector sums[WORK_Q][VECTORS],
                                   __global const number* query_lengths, __global const number* row_lengths,
                                   const int item) {
  const int first_query = item / ITEMS_R * WORK_Q;
  const int first_row = item % ITEMS_R * WIDTH;
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const int row = first_row + v * VECTOR_STEP;
    const vector lengths = LOAD_VECTOR(0, row_lengths + row);
#pragma unroll
    for (int i = 0; i < WORK_Q; ++i) {
      const int query = first_query + i;
      const vector distances = apart_of(query_lengths[query], lengths, sums[i][v]);
      PUT_VECTOR(distances, met->tile.distances + query * TILE_R + row);
      met->leasts_of_parts[query * PART_STEP + row / WIDTH] = least_of(distances);
    }
  }
}

// One query of a tile meets WIDTH rows, of which the first is `row`. Returns the least distance after them.
static inline apart meet_part(__local const apart* distances, apart least, apart* furthest, __global double* state,
                              const long row, __global const result* targets, const Regression regression) {
  for (int i = 0; i < WIDTH; ++i) {
    const apart distance = distances[i];
    if (!(distance <= *furthest)) continue;
    double weight = 1;
    if (distance < least) {
      approach(state, least < FAR ? (double)least : INFINITY, (double)distance, row + i, regression);
      least = distance;
      *furthest = (apart)fmin(furthest_from((double)least, regression), (double)MOST_APART);
    } else {
      weight = (double)weight_of((squared)distance, (squared)least, regression.factor, regression.is_euclidean);
    }
    if (weight != 0) add_row(state, weight, targets + i * regression.outputs, regression);
  }
  return least;
}

// The queries of a tile meet its rows, each by a work-item; `count` of them exist. `first` is the tile's first query of
// the group's.
static inline void meet_tile(__local Met* met, const int first, const long count, __global double* states,
                             const long row, __global const result* targets, const Regression regression,
                             const int item) {
  for (int query = item; query < TILE_Q && first + query < count; query += ITEMS) {
    apart least = met->leasts[first + query];
    apart furthest = met->furthests[first + query];
    for (int part = 0; part < PARTS; ++part) {
      if (IS_RARE(met->leasts_of_parts[query * PART_STEP + part] <= furthest)) {
        least = meet_part(met->tile.distances + query * TILE_R + part * WIDTH, least, &furthest,
                          states + (first + query) * state_size(regression), row + part * WIDTH,
                          targets + (row + part * WIDTH) * regression.outputs, regression);
      }
    }
    met->leasts[first + query] = least;
    met->furthests[first + query] = furthest;
  }
}

// Groups: kernel_regression_tiling.cl.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void kernel_regression_tiles(
    __global const number* rows, const ulong rows_first, __global const result* targets, const ulong targets_first,
    __global const number* queries, const ulong queries_first, __global double* states, const ulong states_first,
    const Regression regression, const Tiling tiling, const long round_number) {
  __local Met met;
  const int item = (int)get_local_id(0);
  const Place place = place_of_group((long)get_group_id(0), regression, tiling);
  const long block = place.block;
  const long in_round = place.query_group * QUERIES;
  const long count = regression.queries - (round_number * regression.queries_of_round + in_round);
  if (count <= 0) return;
  rows += rows_first;
  targets += targets_first;
  queries += queries_first;
  states += states_first + (block * regression.queries_of_round + in_round) * state_size(regression);
  for (int query = item; query < QUERIES && query < count; query += ITEMS) {
    met.leasts[query] = FAR;
    met.furthests[query] = MOST_APART;
    states[query * state_size(regression) + STATE_LEAST] = INFINITY;
    states[query * state_size(regression) + STATE_ROW] = -1;
  }
  WAIT_FOR_ALL();
  const long end = min(regression.training_rows, (block + 1) * BLOCK_ROWS);
  const int queries_end = (int)min((long)QUERIES, count);
#pragma unroll 1
  for (long row = block * BLOCK_ROWS; row < end; row += TILE_R) {
#pragma unroll 1
    for (int first = 0; first < queries_end; first += TILE_Q) {
      __global const number* const query_panel = queries + tiling.query_panels + (in_round + first) * tiling.depth;
      __global const number* const row_panel = rows + tiling.row_panels + row * tiling.depth;
      vector sums[WORK_Q][VECTORS];
#if ITEMS > 1
      multiply_tile(sums, met.tile.staged, query_panel, row_panel, tiling.depth, item);
#else
      multiply_tile(sums, query_panel, row_panel, tiling.depth);
#endif
      place_distances(&met, sums, queries + in_round + first, rows + row, item);
      WAIT_FOR_ALL();
      meet_tile(&met, first, count, states, row, targets, regression, item);
      WAIT_FOR_ALL();
    }
  }
}
