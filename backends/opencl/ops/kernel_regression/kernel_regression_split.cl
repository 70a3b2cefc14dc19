// kernel_regression, fused_split: states of queries after a block of training rows, by products of halves of NVIDIA's tensor
// cores. Nothing of the size queries x training rows is written. Options: WARPS of 32 work-items, each with 16 queries;
// STAGES; EUCLIDEAN; OTHER_SUMS; BLOCK_ROWS.
//
//              a block of BLOCK_ROWS training rows, packed       A group computes 16 * WARPS queries and one block, a tile of
//              tile of 128 rows   tile   ...                     128 rows after the other. Steps of 16 columns, split into
//             +------------------+------+------                  halves (kernel_regression_pack_split.cl), go round in local
//   16        |  warp 0          |      |                        memory, STAGES of them, through the tiles' ends: the next
//   queries   +------------------+------+------                  tile's first ones arrive while this tile's queries meet its
//             |  warp 1          |      |                        rows (kernel_regression_split_meeting.cl). A warp has all
//             +------------------+------+------                  rows of its queries, so that warps need not wait for each
//                                                                other with what they meet.
//
// With x = x1 + x2 of each number and x1 the rounded one, x2 y1 + x1 y2 + x1 y1 are added up by the tensor cores, the small
// ones first, and what they give goes to float32 at once: the cores cut sums off instead of rounding them, so theirs are
// three instructions long.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DWARPS=4 -DSTAGES=3 -DEUCLIDEAN=0 -DOTHER_SUMS=0 -DBLOCK_ROWS=2048
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DWARPS=2 -DSTAGES=3 -DEUCLIDEAN=1 -DOTHER_SUMS=1 -DBLOCK_ROWS=128
#define TILE_R 128
#include "ops/kernel_regression/kernel_regression_split_meeting.cl"
#include "ops/kernel_regression/kernel_regression_tiling.cl"
#include "ops/nvidia_halves.cl"

#define QUERIES (16 * WARPS)
#define ITEMS (32 * WARPS)
// Of a row: rounded numbers, and rests.
#define STEP_BYTES 64
#define STEP_COLUMNS 16
#if BLOCK_ROWS % TILE_R
#error "a block is no multiple of the tile"
#endif
#include "ops/kernel_regression/kernel_regression_tensor_fetch.cl"

// What a group has in local memory.
typedef struct {
  uchar stages[STAGES][STAGE_BYTES] __attribute__((aligned(128)));
  Known known[2];
} Shared;

// Four blocks of 8 rows are multiplied side by side: the products of one wait for each other.
#define BLOCKS_AT_ONCE 4

// Adds a step's products. Where this lane's pieces of the step's rounded numbers lie in local memory: `of_queries`,
// `of_rows`.
ALWAYS_INLINE void multiply_step(float totals[KEYS * 2], const uint of_queries, const uint of_rows) {
  uint words[4];
  load_matrices(words, of_queries);
  const uint4 rounded = (uint4)(words[0], words[1], words[2], words[3]);
  load_matrices(words, of_queries + QUERIES * ROW_BYTES);
  const uint4 rest = (uint4)(words[0], words[1], words[2], words[3]);
#pragma unroll
  for (int first = 0; first < BLOCKS_R; first += BLOCKS_AT_ONCE) {
    uint2 rows_rounded[BLOCKS_AT_ONCE], rows_rest[BLOCKS_AT_ONCE];
    float sums[BLOCKS_AT_ONCE][4];
#pragma unroll
    for (int j = 0; j < BLOCKS_AT_ONCE; j += 2) {
      const uint at = of_rows + (first + j) * 8 * ROW_BYTES;
      load_matrices(words, at);
      rows_rounded[j] = (uint2)(words[0], words[1]);
      rows_rounded[j + 1] = (uint2)(words[2], words[3]);
      load_matrices(words, at + TILE_R * ROW_BYTES);
      rows_rest[j] = (uint2)(words[0], words[1]);
      rows_rest[j + 1] = (uint2)(words[2], words[3]);
    }
#pragma unroll
    for (int j = 0; j < BLOCKS_AT_ONCE; ++j) begin_16x8(sums[j], rest, rows_rounded[j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_AT_ONCE; ++j) multiply_16x8(sums[j], rounded, rows_rest[j]);
#pragma unroll
    for (int j = 0; j < BLOCKS_AT_ONCE; ++j) multiply_16x8(sums[j], rounded, rows_rounded[j]);
#pragma unroll
    for (int i = 0; i < BLOCKS_AT_ONCE * 4; ++i) totals[first * 4 + i] += sums[i / 4][i % 4];
  }
}

// What else is known of the tile's rows: fetched by the first TILE_R work-items, or by all, and put to where all see it.
#define ROWS_OF_ITEM ((TILE_R + ITEMS - 1) / ITEMS)
typedef struct {
  float lengths[ROWS_OF_ITEM];
  float factors[ROWS_OF_ITEM];
  float targets[ROWS_OF_ITEM];
} RowFacts;
ALWAYS_INLINE void fetch_facts(RowFacts* facts, __global const float* lengths, const long padded_rows,
                               __global const float* targets, const long outputs, const long row, const long rows) {
#pragma unroll
  for (int i = 0; i < ROWS_OF_ITEM; ++i) {
    const int in_tile = (int)get_local_id(0) + i * ITEMS;
    const int is_there = in_tile < TILE_R && row + in_tile < rows;
    facts->lengths[i] = is_there ? lengths[row + in_tile] : INFINITY;
    facts->factors[i] = is_there ? lengths[padded_rows + row + in_tile] : 0;
    facts->targets[i] = is_there ? targets[(row + in_tile) * outputs] : 0;
  }
}
ALWAYS_INLINE void place_facts(__local Known* known, const RowFacts* facts) {
#pragma unroll
  for (int i = 0; i < ROWS_OF_ITEM; ++i) {
    const int in_tile = (int)get_local_id(0) + i * ITEMS;
    if (in_tile >= TILE_R) continue;
    place_known(known, facts->lengths[i], facts->factors[i], facts->targets[i], in_tile);
  }
}

// Groups: kernel_regression_tiling.cl.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void kernel_regression_split(
    __global const float* rows, const ulong rows_first, __global const float* targets, const ulong targets_first,
    __global const float* queries, const ulong queries_first, __global double* states, const ulong states_first,
    const Regression regression, const Tiling tiling, const long round_number) {
  __local Shared shared;
  const int lane = (int)get_local_id(0) % 32;
  const int warp = (int)get_local_id(0) / 32;
  const Place place = place_of_group((long)get_group_id(0), regression, tiling);
  const long in_round = place.query_group * QUERIES;
  const long count = regression.queries - (round_number * regression.queries_of_round + in_round);
  if (count <= 0) return;
  rows += rows_first;
  targets += targets_first;
  queries += queries_first;
  states += states_first + (place.block * regression.queries_of_round + in_round) * state_size(regression);
  const long block_row = place.block * BLOCK_ROWS;
  const long padded_rows = (regression.training_rows + TILE_R - 1) / TILE_R * TILE_R;
  const int tiles = (int)((min((long)BLOCK_ROWS, regression.training_rows - block_row) + TILE_R - 1) / TILE_R);
  const int steps = (int)(tiling.depth / STEP_COLUMNS);

  const uint stages = (uint)(size_t)shared.stages;
  Fetch fetch = fetch_of((__global const uint*)(rows + tiling.row_panels + block_row * tiling.depth),
                         (__global const uint*)(queries + tiling.query_panels + in_round * tiling.depth), stages, tiles,
                         steps);
  RowFacts facts;
  fetch_facts(&facts, rows, padded_rows, targets, regression.outputs, block_row, regression.training_rows);
#pragma unroll
  for (int slot = 0; slot < STAGES - 1; ++slot) {
    start_step(&fetch, slot, steps);
    close_copies();
  }
  place_facts(&shared.known[0], &facts);

  const uint of_queries = stages + place_of_half(warp * 16 + lane % 16, lane / 16);
  const uint of_rows = stages + QUERIES * STEP_BYTES + place_of_half(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  const int first_query = warp * 16 + lane / 4;
  const Meeting meeting = meeting_of(regression);
  Part parts[2];
  Query of_parts[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const long query = in_round + first_query + i * 8;
    begin_part(&parts[i]);
#if OTHER_SUMS
    parts[i].others = begin_others(states + (first_query + i * 8) * state_size(regression), first_query + i * 8 < count,
                                   targets + block_row * regression.outputs, regression);
#endif
    of_parts[i].length = queries[query];
    of_parts[i].factor = -2 * queries[regression.queries_of_round + query];
  }
  uint read = 0;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    fetch_facts(&facts, rows, padded_rows, targets, regression.outputs, block_row + (tile + 1) * TILE_R,
                regression.training_rows);
    float sums[KEYS * 2];
#pragma unroll
    for (int i = 0; i < KEYS * 2; ++i) sums[i] = 0;
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
    place_facts(&shared.known[(tile + 1) % 2], &facts);
    __local const Known* const known = &shared.known[tile % 2];
    int keys[KEYS * 2];
    make_keys(keys, sums, known->lengths[lane % 4], known->factors[lane % 4], of_parts[0], of_parts[1]);
    meet_keys(&meeting, &parts[0], &parts[1], keys, tile, known->targets[lane % 4]);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int query = first_query + i * 8;
    end_part(&meeting, &parts[i], states + query * state_size(regression), block_row, query < count && lane % 4 == i);
  }
}
