// kernel_regression by tiles ("fused", "exact_bytes"): the states of queries after a block of training rows. Nothing of
// the size queries x training rows is written. Options: those of kernel_regression_meeting.cl; BLOCK_ROWS.
//
//              a block of BLOCK_ROWS training rows, packed       A group computes PANELS x TILE_Q queries and one block.
//              tile of TILE_R  tile   ...                        A tile's products stay in registers until they are
//             +---------------+------+------                     distances, which go to local memory with the least of
//   TILE_Q    |  products     |      |                           every WIDTH. Then each query meets the rows, of which
//   queries   |               |      |                           with a large order few are near enough to weigh, most of
//             +---------------+------+------                     them where a block begins (kernel_regression_meeting.cl).
//   PANELS    |               |      |
//   times     +---------------+------+------                     kernel_regression_join.cl makes results of the blocks'
//                    | least, sums                               states.
//                    v
//             states of (query, block)
//
// Every packed query is read once a tile of training rows, every training row once a group of queries. Groups that follow
// each other share a block of training rows, which caches hold.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=0 -DBLOCK_ROWS=2048
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=8 -DDP4A=0 -DTILE_Q=14 -DTILE_R=16 -DWORK_Q=14 -DWORK_R=16 -DDEPTH=1 -DPANELS=10 -DSHARES_WEIGHTS=0 -DBLOCK_ROWS=2048
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=2 -DWIDTH=16 -DDP4A=0 -DTILE_Q=12 -DTILE_R=32 -DWORK_Q=12 -DWORK_R=32 -DDEPTH=1 -DPANELS=10 -DSHARES_WEIGHTS=0 -DBLOCK_ROWS=2048
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=1 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DSHARES_WEIGHTS=0 -DBLOCK_ROWS=2048
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=4 -DWORK_R=8 -DDEPTH=8 -DSTAGES=4 -DTENSOR_CORES=90 -DPANELS=1 -DSHARES_WEIGHTS=1 -DBLOCK_ROWS=128
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=1 -DOTHER_SUMS=1 -DBLOCK_ROWS=2048
#include "ops/kernel_regression/kernel_regression_meeting.cl"
#include "ops/kernel_regression/kernel_regression_tiling.cl"

// A work-item alone waits for nobody; PoCL would keep its registers in memory across a barrier.
#if ITEMS > 1
#define WAIT_FOR_ALL() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define WAIT_FOR_ALL()
#endif
#if BLOCK_ROWS % TILE_R || (ITEMS > 1 && PANELS != 1)
#error "a block is no multiple of the tile, or several work-items have several panels"
#endif

// Distances from this work-item's products.
static inline void place_distances(__local Met* met, const PRODUCTS(sums), __global const number* query_lengths,
                                   __global const number* row_lengths, const int item) {
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const int row = row_of(item, v);
    const vector lengths = LOAD_VECTOR(0, row_lengths + row);
#pragma unroll
    for (int i = 0; i < WORK_Q; ++i) {
      const int query = query_of(item, i);
      const vector distances = apart_of(query_lengths[query], lengths, RUN_OF(sums, i, v));
      PUT_VECTOR(distances, met->tile.distances + query * DISTANCE_STEP + row);
      met->leasts_of_parts[query * PART_STEP + row / WIDTH] = least_of(distances);
    }
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
    begin_query(&met, query, states + query * state_size(regression));
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
      PRODUCTS(sums);
#if ITEMS > 1
      multiply_tile(sums, met.tile.staged, query_panel, row_panel, tiling.depth, item);
#else
      multiply_tile(sums, query_panel, row_panel, tiling.depth);
#endif
      place_distances(&met, sums, queries + in_round + first, rows + row, item);
      WAIT_FOR_ALL();
#if SHARES_WEIGHTS
      weigh_tile(&met, count, regression, item);
      WAIT_FOR_ALL();
#if OTHER_SUMS
      add_others(&met, count, states, row, targets, regression, item);
      WAIT_FOR_ALL();
#endif
      add_tile(&met, count, states, row, targets, regression, item);
      WAIT_FOR_ALL();
#else
      meet_tile(&met, first, count, states, row, targets, regression, item);
      WAIT_FOR_ALL();
#endif
    }
  }
#if SHARES_WEIGHTS
  for (int query = item; query < QUERIES && query < count; query += ITEMS) {
    put_sums(states + query * state_size(regression), met.sums[query]);
  }
#endif
}
