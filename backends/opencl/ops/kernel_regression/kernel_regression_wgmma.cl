// kernel_regression, exact_bytes_wgmma: states of queries after a block of training rows, by the products of Hopper's warp
// groups. Nothing of the size queries x training rows is written. Options: STEPS of 32 bytes of a packed row; STAGES;
// EUCLIDEAN; BLOCK_ROWS; GROUP_BLOCKS that a group computes one after the other.
//
//                a block of BLOCK_ROWS training rows, packed     A group of 256 work-items computes 128 queries and one
//                tile of 128 rows   tile   ...                   block, a tile of 128 rows after the other. Its queries lie
//               +------------------+------+------                in registers from beginning to end: NVIDIA's OpenCL gives
//    64 queries |  warp group 0    |      |                      a group too little local memory for them. Pairs of steps
//               +------------------+------+------                of the rows go round in local memory, STAGES of them,
//    64 queries |  warp group 1    |      |                      through the tiles' and the blocks' ends: while queries
//               +------------------+------+------                meet a tile's rows (kernel_regression_tensor_meeting.cl),
//                                                                the next tile's first steps arrive.
//
// No work-item fetches stages for the others: the last warp that has read a stage's rows starts the copy that takes their
// place. So neither warp group waits for the other, but for stages that it has not read. From one stage to the next a warp
// has some 45 instructions, each behind the one before: stages of one step took longer. So lists of near rows found no
// place in local memory, and lie in work-items' own.
//
// Every packed query is read once a block, every training row once for 128 queries, by copies of whole stages. Groups that
// follow each other share a block of training rows, which caches hold. 25 steps take 100 registers, sums 64: one group
// fills a multiprocessor.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTEPS=25 -DSTAGES=5 -DEUCLIDEAN=0 -DBLOCK_ROWS=2048 -DGROUP_BLOCKS=2
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTEPS=1 -DSTAGES=5 -DEUCLIDEAN=1 -DBLOCK_ROWS=256 -DGROUP_BLOCKS=1
#define TILE_R 128
#define PRIVATE_LISTS 1
#include "ops/kernel_regression/kernel_regression_tensor_meeting.cl"
#include "ops/kernel_regression/kernel_regression_tiling.cl"
#include "ops/nvidia_warpgroup_bytes.cl"

#define WARP_GROUPS 2
#define WARPS (4 * WARP_GROUPS)
#define ITEMS (32 * WARPS)
#define GROUP_QUERIES 64
#define QUERIES (GROUP_QUERIES * WARP_GROUPS)
#define TILE_STEP_BYTES (TILE_R * STEP_BYTES)
// The last stage of a tile may have fewer.
#define STAGE_STEPS 2
#define STAGE_BYTES (STAGE_STEPS * TILE_STEP_BYTES)
#define TILE_BYTES (STEPS * TILE_STEP_BYTES)
#define TILE_STAGES ((STEPS + STAGE_STEPS - 1) / STAGE_STEPS)
// Of a tile's stage with this number.
#define BYTES_OF_STAGE(number) ((number) == TILE_STAGES - 1 ? TILE_BYTES - (TILE_STAGES - 1) * STAGE_BYTES : STAGE_BYTES)
// Of an operand's row.
#define CHUNK_WORDS (CHUNK_BYTES / 4)
#if BLOCK_ROWS % TILE_R || TILE_R != OPERAND_ROWS || ITEMS != TILE_R * WARP_GROUPS || STAGES < 3
#error "a block is no multiple of the tile, or there are too few stages"
#endif

// What a group has in local memory.
typedef struct {
  uchar stages[STAGES][STAGE_BYTES] __attribute__((aligned(128)));
  Known known[WARP_GROUPS][2];
  ulong full[STAGES];  // barriers
  int left[STAGES];    // how often a warp has left the stage
} Shared;

// A warp's place in the ring of stages.
typedef struct {
  uint stages, full, left;  // where these lie in local memory
  uint slot;                // of the stage that is read next
  uint parity;              // of its phase
  uint before;              // the slot that was read before it and has not been left,
  uint last;                // the one that has been left last,
  int count;                // and how often it had been before
  int starts;               // copies that are to be started when others are left
  __global const uchar* next;
} Ring;

// The group's first work-item fills all stages.
ALWAYS_INLINE void begin_ring(Ring* ring, __local Shared* shared, __global const uchar* rows, const int stages) {
  ring->stages = (uint)(size_t)shared->stages;
  ring->full = (uint)(size_t)shared->full;
  ring->left = (uint)(size_t)shared->left;
  ring->slot = ring->parity = ring->before = ring->last = 0;
  ring->count = 0;
  ring->starts = stages - STAGES;
  ring->next = rows + STAGES / TILE_STAGES * TILE_BYTES + STAGES % TILE_STAGES * STAGE_BYTES;
  if (get_local_id(0) != 0) return;
#pragma unroll 1
  for (int slot = 0; slot < STAGES; ++slot) {
    begin_barrier(ring->full + slot * 8, 1);
    shared->left[slot] = 0;
  }
  publish_barriers();
#pragma unroll 1
  for (int slot = 0; slot < min(STAGES, stages); ++slot) {
    const uint bytes = BYTES_OF_STAGE(slot % TILE_STAGES);
    start_bulk_copy(ring->stages + slot * STAGE_BYTES, rows, bytes, ring->full + slot * 8);
    rows += bytes;
  }
}

// This warp has read the stage before the one that it reads.
ALWAYS_INLINE void leave_stage(Ring* ring) {
  ring->last = ring->before;
  if (elects()) ring->count = count_one(ring->left + ring->last * 4);
}
// If all others had left the stage before, this warp fills it again, which had a tile's stage of this number. Some time
// after leave_stage(), whose count takes long.
ALWAYS_INLINE void refill_stage(Ring* ring, const int number) {
  const uint bytes = BYTES_OF_STAGE((number + STAGES) % TILE_STAGES);
  if (ring->starts > 0 && elects()) {
    if ((ring->count & (WARPS - 1)) == WARPS - 1) {
      start_bulk_copy(ring->stages + ring->last * STAGE_BYTES, ring->next, bytes, ring->full + ring->last * 8);
    }
  }
  ring->next += bytes;
  --ring->starts;
}

// Starts the products of a tile's stage.
ALWAYS_INLINE void begin_stage(const int stage, int sums[SUMS], uint queries[STEPS][4], Ring* ring) {
  wait_for_phase(ring->full + ring->slot * 8, ring->parity);
  begin_products();
  const uint rows = OPERAND_LOW | (ring->stages + ring->slot * STAGE_BYTES) / 16;
#pragma unroll
  for (int step = stage * STAGE_STEPS; step < min(STEPS, (stage + 1) * STAGE_STEPS); ++step) {
    const uint rows_of_step = rows + (step - stage * STAGE_STEPS) * (TILE_STEP_BYTES / 16);
    if (step == 0) {
      multiply_first(sums, queries[step], rows_of_step);
    } else {
      multiply_next(sums, queries[step], rows_of_step);
    }
  }
  close_products();
  if (stage > 1) refill_stage(ring, stage - 2);
}
// Ends those of the stage before.
ALWAYS_INLINE void end_stage(const int stage, Ring* ring) {
  if (stage > 0) {
    wait_for_products_before();
    leave_stage(ring);
  }
  ring->before = ring->slot;
  ring->slot = ring->slot + 1 == STAGES ? 0 : ring->slot + 1;
  ring->parity ^= ring->slot == 0;
}

// Groups: kernel_regression_tiling.cl.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void kernel_regression_wgmma(
    __global const uint* rows, const ulong rows_first, __global const float* targets, const ulong targets_first,
    __global const uint* queries, const ulong queries_first, __global double* states, const ulong states_first,
    const Regression regression, const Tiling tiling, const long round_number) {
  __local Shared shared;
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int warp = item / 32;
  const int group = warp / 4;
  const int in_tile = item % TILE_R;  // the row of a tile of which this work-item tells its warp group
  Regression walked = regression;
  walked.chunks = (regression.chunks + GROUP_BLOCKS - 1) / GROUP_BLOCKS;
  const Place place = place_of_group((long)get_group_id(0), walked, tiling);
  const long first_block = place.block * GROUP_BLOCKS;
  const long in_round = place.query_group * QUERIES;
  const long count = regression.queries - (round_number * regression.queries_of_round + in_round);
  if (count <= 0) return;
  queries += queries_first;
  states += states_first + (first_block * regression.queries_of_round + in_round) * state_size(regression);
  long block_row = first_block * BLOCK_ROWS;
  const int left_rows = (int)min((long)GROUP_BLOCKS * BLOCK_ROWS, regression.training_rows - block_row);
  const int tiles = (left_rows + TILE_R - 1) / TILE_R;
  rows += rows_first;
  __global const uint* const panels = rows + tiling.row_panels + block_row * tiling.depth;
  __global const uint* const lengths = rows + block_row + in_tile;
  targets += targets_first + block_row + in_tile;

  Ring ring;
  begin_ring(&ring, &shared, (__global const uchar*)panels, tiles * TILE_STAGES);
  // Queries g and g + 8 of the warp's 16.
  const int first_query = group * GROUP_QUERIES + warp % 4 * 16 + lane / 4;
  uint own[STEPS][4];
  __global const uint* const from =
      queries + tiling.query_panels + in_round * tiling.depth + first_query * CHUNK_WORDS + lane % 4;
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    own[step][0] = from[step * 2 * QUERIES * CHUNK_WORDS];
    own[step][1] = from[(step * 2 * QUERIES + 8) * CHUNK_WORDS];
    own[step][2] = from[(step * 2 + 1) * QUERIES * CHUNK_WORDS];
    own[step][3] = from[((step * 2 + 1) * QUERIES + 8) * CHUNK_WORDS];
  }
  const Meeting meeting = meeting_of(regression);
  int list[PLACES];
  Part upper, lower;
  begin_part(&upper, (int)queries[in_round + first_query], first_query < count);
  begin_part(&lower, (int)queries[in_round + first_query + 8], first_query + 8 < count);
  barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 1
  for (int tile = 0;; ++tile) {
    __local Known* const known = &shared.known[group][tile % 2];
    uint length = NO_LENGTH;
    float target = 0;
    if (tile * TILE_R + in_tile < left_rows) {
      length = lengths[tile * TILE_R];
      target = targets[tile * TILE_R];
    }
    int sums[SUMS];
#pragma unroll
    for (int stage = 0; stage < TILE_STAGES; ++stage) {
      begin_stage(stage, sums, own, &ring);
      end_stage(stage, &ring);
    }
    place_known(known, length, target, in_tile);
    if (TILE_STAGES > 1) refill_stage(&ring, TILE_STAGES - 2);
    wait_for_products();
    hold(sums);
    leave_stage(&ring);
    wait_for_warp_group(group + 1);  // until all is known of the tile, and nobody needs any more what was of the one before
    make_words(sums, sums, known->words[lane % 4]);
    refill_stage(&ring, TILE_STAGES - 1);
    Ends ends;
    const int near = list_near(&meeting, &upper, &lower, sums, list, tile % (BLOCK_ROWS / TILE_R), &ends);
    add_near_words(&meeting, &upper, &lower, sums, list, known->targets[lane % 4], ends, near);
    const int is_last = tile + 1 == tiles;
    if (!is_last && (tile + 1) % (BLOCK_ROWS / TILE_R) != 0) continue;
    const long size = state_size(regression);
    end_part(&meeting, &upper, states + first_query * size, block_row, first_query < count && lane % 4 == 0);
    end_part(&meeting, &lower, states + (first_query + 8) * size, block_row, first_query + 8 < count && lane % 4 == 1);
    if (is_last) break;
    states += regression.queries_of_round * size;
    block_row += BLOCK_ROWS;
    begin_part(&upper, upper.length, first_query < count);
    begin_part(&lower, lower.length, first_query + 8 < count);
  }
}
