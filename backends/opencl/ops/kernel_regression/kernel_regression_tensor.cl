// kernel_regression, exact_bytes_tensor: states of queries after a block of training rows, by NVIDIA's tensor cores. Nothing
// of the size queries x training rows is written. Options: WARPS of 32 work-items, each with BLOCKS times 16 queries;
// STAGES; EUCLIDEAN; BLOCK_ROWS.
//
//              a block of BLOCK_ROWS training rows, packed       A group computes 16 * BLOCKS * WARPS queries and one block,
//              tile of 128 rows   tile   ...                     a tile of 128 rows after the other. Steps of 32 bytes of
//             +------------------+------+------                  each row of both operands go round in local memory,
//    16 * B   |  warp 0          |      |                        STAGES of them, through the tiles' ends: the next tile's
//    queries  +------------------+------+------                  first ones arrive while this tile's queries meet its
//             |  warp 1          |      |                        rows. A warp has all rows of its queries, so that warps
//             +------------------+------+------                  need not wait for each other with what they meet
//                                                                (kernel_regression_tensor_meeting.cl).
//
// Every packed query is read once a tile of training rows, every training row once a group of queries, by copies that pass
// no register. Groups that follow each other share a block of training rows, which caches hold.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DWARPS=4 -DBLOCKS=2 -DSTAGES=4 -DEUCLIDEAN=0 -DBLOCK_ROWS=2048
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DWARPS=2 -DBLOCKS=1 -DSTAGES=4 -DEUCLIDEAN=1 -DBLOCK_ROWS=256
#define TILE_R 128
#include "ops/kernel_regression/kernel_regression_tensor_meeting.cl"
#include "ops/kernel_regression/kernel_regression_tiling.cl"
#include "ops/nvidia_bytes.cl"

#define QUERIES (16 * BLOCKS * WARPS)
#define ITEMS (32 * WARPS)
#define STEP_BYTES 32
#if BLOCK_ROWS % TILE_R
#error "a block is no multiple of the tile"
#endif
#include "ops/kernel_regression/kernel_regression_tensor_fetch.cl"

// What a group has in local memory.
typedef struct {
  uchar stages[STAGES][STAGE_BYTES] __attribute__((aligned(128)));
  Known known[2];
  int lists[WARPS][PLACES * 32];
} Shared;

// Adds a step's products. Where this lane's pieces of the step lie in local memory: `of_queries`, `of_rows`.
ALWAYS_INLINE void multiply_step(int sums[BLOCKS][KEYS * 2], const uint of_queries, const uint of_rows) {
  uint queries[BLOCKS][4];
#pragma unroll
  for (int i = 0; i < BLOCKS; ++i) load_matrices(queries[i], of_queries + i * 16 * STEP_BYTES);
#pragma unroll
  for (int j = 0; j < BLOCKS_R; j += 2) {
    uint rows[4];
    load_matrices(rows, of_rows + j * 8 * STEP_BYTES);
#pragma unroll
    for (int i = 0; i < BLOCKS; ++i) {
      multiply_16x8(sums[i] + j * 4, queries[i], rows[0], rows[1]);
      multiply_16x8(sums[i] + j * 4 + 4, queries[i], rows[2], rows[3]);
    }
  }
}

// What else is known of the tile's rows: fetched by the first TILE_R work-items, or by all, and put to where all see it.
#define ROWS_OF_ITEM ((TILE_R + ITEMS - 1) / ITEMS)
typedef struct {
  uint lengths[ROWS_OF_ITEM];
  float targets[ROWS_OF_ITEM];
} RowFacts;
ALWAYS_INLINE void fetch_facts(RowFacts* facts, __global const uint* lengths, __global const float* targets,
                               const long row, const long rows) {
#pragma unroll
  for (int i = 0; i < ROWS_OF_ITEM; ++i) {
    const int in_tile = (int)get_local_id(0) + i * ITEMS;
    const int is_there = in_tile < TILE_R && row + in_tile < rows;
    facts->lengths[i] = is_there ? lengths[row + in_tile] : NO_LENGTH;
    facts->targets[i] = is_there ? targets[row + in_tile] : 0;
  }
}
ALWAYS_INLINE void place_facts(__local Shared* shared, const RowFacts* facts, const int slot) {
#pragma unroll
  for (int i = 0; i < ROWS_OF_ITEM; ++i) {
    const int in_tile = (int)get_local_id(0) + i * ITEMS;
    if (in_tile >= TILE_R) continue;
    place_known(&shared->known[slot], facts->lengths[i], facts->targets[i], in_tile);
  }
}

// Groups: kernel_regression_tiling.cl.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void kernel_regression_tensor(
    __global const uint* rows, const ulong rows_first, __global const float* targets, const ulong targets_first,
    __global const uint* queries, const ulong queries_first, __global double* states, const ulong states_first,
    const Regression regression, const Tiling tiling, const long round_number) {
  __local Shared shared;
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int warp = item / 32;
  const Place place = place_of_group((long)get_group_id(0), regression, tiling);
  const long block = place.block;
  const long in_round = place.query_group * QUERIES;
  const long count = regression.queries - (round_number * regression.queries_of_round + in_round);
  if (count <= 0) return;
  rows += rows_first;
  targets += targets_first;
  queries += queries_first;
  states += states_first + (block * regression.queries_of_round + in_round) * state_size(regression);
  const long block_row = block * BLOCK_ROWS;
  const int tiles = (int)((min((long)BLOCK_ROWS, regression.training_rows - block_row) + TILE_R - 1) / TILE_R);
  const int steps = (int)(tiling.depth / (STEP_BYTES / 4));

  const uint stages = (uint)(size_t)shared.stages;
  Fetch fetch = fetch_of(rows + tiling.row_panels + block_row * tiling.depth,
                         queries + tiling.query_panels + in_round * tiling.depth, stages, tiles, steps);
  RowFacts facts;
  fetch_facts(&facts, rows, targets, block_row, regression.training_rows);
#pragma unroll
  for (int slot = 0; slot < STAGES - 1; ++slot) {
    start_step(&fetch, slot, steps);
    close_copies();
  }
  place_facts(&shared, &facts, 0);

  const uint of_queries = stages + place_of_half(warp * 16 * BLOCKS + lane % 16, lane / 16);
  const uint of_rows = stages + place_of_half(QUERIES + lane % 8 + lane / 16 * 8, lane / 8 % 2);
  const int first_query = warp * 16 * BLOCKS + lane / 4;
  const Meeting meeting = meeting_of(regression);
  Part parts[BLOCKS][2];
#pragma unroll
  for (int i = 0; i < BLOCKS * 2; ++i) {
    begin_part(&parts[i / 2][i % 2], (int)queries[in_round + first_query + i * 8], first_query + i * 8 < count);
  }
  const int list = (int)(size_t)&shared.lists[warp][lane];
  uint read = 0;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    fetch_facts(&facts, rows, targets, block_row + (tile + 1) * TILE_R, regression.training_rows);
    int sums[BLOCKS][KEYS * 2];
#pragma unroll
    for (int i = 0; i < BLOCKS * KEYS * 2; ++i) sums[i / (KEYS * 2)][i % (KEYS * 2)] = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      wait_for_copies();
      // The step is there for all, and nobody reads any more what the next one replaces.
      barrier(CLK_LOCAL_MEM_FENCE);
      start_step(&fetch, read == 0 ? STAGES - 1 : read - 1, steps);
      close_copies();
      multiply_step(sums, of_queries + read * STAGE_BYTES, of_rows + read * STAGE_BYTES);
      read = read + 1 == STAGES ? 0 : read + 1;
    }
    // Whoever reads this slot's rows before has passed a barrier since.
    place_facts(&shared, &facts, (tile + 1) % 2);
#pragma unroll
    for (int i = 0; i < BLOCKS; ++i) {
      Ends ends;
      __local const Known* known = &shared.known[tile % 2];
      make_words(sums[i], sums[i], known->words[lane % 4]);
      const int near = list_near(&meeting, &parts[i][0], &parts[i][1], sums[i], list, tile, &ends);
      add_near_words(&meeting, &parts[i][0], &parts[i][1], sums[i], list, known->targets[lane % 4], ends, near);
    }
  }
#pragma unroll
  for (int i = 0; i < BLOCKS * 2; ++i) {
    const int query = first_query + i * 8;
    end_part(&meeting, &parts[i / 2][i % 2], states + query * state_size(regression), block_row,
             query < count && lane % 4 == i);
  }
}
