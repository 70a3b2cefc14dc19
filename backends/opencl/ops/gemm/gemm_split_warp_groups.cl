// gemm, split: sums of a tile by Hopper's warp groups, which multiply 64 rows of A from registers by all columns of the tile
// from local memory at once. Options: those of gemm_split_tile_shape.cl; WARP_GROUPS; STEPS of 16 in a stage; STAGES.
//
//                  B: a stage is STEPS steps of 16      A warp's 16 rows are its own, so it reads them from the L2 cache
//                  of k of all columns                  straight into the registers that an instruction wants, FETCHED
//                 +-------------------------------      stages ahead. B goes round in local memory: while a stage's
//    A: 64 rows   |  warp group 0                       products go on, a warp in turn has the one before filled again, so
//                 +-------------------------------      that no work-item fetches for the others.
//    64 rows      |  warp group 1
//                 +-------------------------------
//
// The tensor cores add up a stage's products, and then a work-item's registers take the sums over. Beside its instructions,
// of 32 clocks for 64 columns each, a stage takes some 400 (an H200, without a file); meanwhile products of the other warp
// group, or of another group of the unit, go on.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARP_GROUPS=2 -DWARPS_M=8 -DWARPS_N=1 -DROW_BLOCKS=1 -DCOLUMN_BLOCKS=4 -DSTEPS=2 -DSTAGES=5
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWARP_GROUPS=1 -DWARPS_M=4 -DWARPS_N=1 -DROW_BLOCKS=1 -DCOLUMN_BLOCKS=8 -DSTEPS=1 -DSTAGES=5
#include "ops/gemm/gemm_split_tile_shape.cl"
#define OPERAND_ROWS TILE_N
#include "ops/nvidia_warpgroup_halves.cl"

#define WARPS (4 * WARP_GROUPS)
#define FETCHED 2
#define SETS (FETCHED + 1)
#define STAGE_BYTES (STEPS * B_STEP_BYTES)
#if WARPS != WARPS_M || WARPS_N != 1 || ROW_BLOCKS != 1 || (WARPS & (WARPS - 1)) != 0
#error "warp groups lie below each other, and a warp has 16 rows"
#endif

// What a group has in local memory.
typedef struct {
  uchar stages[STAGES][STAGE_BYTES] __attribute__((aligned(128)));
  ulong full[STAGES];  // barriers: the stage is there,
  ulong left[STAGES];  // and all warps have left it
} Panels;

// What a lane has of its warp's rows in a stage.
typedef struct {
  uint4 rounded[STEPS], rest[STEPS];
} Rows;
ALWAYS_INLINE void read_rows(Rows *rows, __global const uchar *from) {
#pragma unroll
  for (int i = 0; i < STEPS; ++i) {
    rows->rounded[i] = *(__global const uint4 *)(from + i * A_STEP_BYTES);
    rows->rest[i] = *(__global const uint4 *)(from + i * A_STEP_BYTES + HALF_BLOCK_BYTES);
  }
}

// This warp's place in the ring of B's stages.
typedef struct {
  uint stages, full, left;  // where these lie in local memory
  uint slot, parity;        // of the stage that is read next, and of its phase
  uint slot_before, parity_before;
  int starts;  // copies that are to be started when stages are left
  __global const uchar *next;
} Ring;

// The group's first work-item fills all stages.
ALWAYS_INLINE void begin_ring(Ring *ring, __local Panels *panels, __global const uchar *b, const int count) {
  ring->stages = (uint)(size_t)panels->stages;
  ring->full = (uint)(size_t)panels->full;
  ring->left = (uint)(size_t)panels->left;
  ring->slot = ring->parity = ring->slot_before = ring->parity_before = 0;
  ring->starts = count - STAGES;
  ring->next = b + STAGES * STAGE_BYTES;
  if (get_local_id(0) != 0) return;
#pragma unroll 1
  for (int slot = 0; slot < STAGES; ++slot) {
    begin_barrier(ring->full + slot * 8, 1);
    begin_barrier(ring->left + slot * 8, WARPS);
  }
  publish_barriers();
#pragma unroll 1
  for (int slot = 0; slot < min(STAGES, count); ++slot) {
    start_bulk_copy(ring->stages + slot * STAGE_BYTES, b + slot * STAGE_BYTES, STAGE_BYTES, ring->full + slot * 8);
  }
}

// While products go on, a warp in turn has the stage before filled again, which all have left or soon will.
ALWAYS_INLINE void refill_stage_before(Ring *ring, const int stage) {
  if (stage == 0 || ring->starts <= 0) return;
  if (stage % WARPS == (int)get_local_id(0) / 32 && elects()) {
    wait_for_phase(ring->left + ring->slot_before * 8, ring->parity_before);
    start_bulk_copy(ring->stages + ring->slot_before * STAGE_BYTES, ring->next, STAGE_BYTES,
                    ring->full + ring->slot_before * 8);
  }
  ring->next += STAGE_BYTES;
  --ring->starts;
}

// Adds a stage's products, the small ones first. While they go on, rows of a later stage are read: without a condition,
// behind which the compiler would wait for them.
ALWAYS_INLINE void multiply_stage(float totals[PAIRS][4], Ring *ring, const int stage, const Rows *rows, Rows *later,
                                  __global const uchar *from) {
  float sums[SUMS];
  wait_for_phase(ring->full + ring->slot * 8, ring->parity);
  const uint rounded = OPERAND_LOW | (ring->stages + ring->slot * STAGE_BYTES) / 16;
  const uint rest = rounded + B_STEP_BYTES / 2 / 16;
  begin_products();
  multiply_first(sums, rows->rest[0], rounded);
#pragma unroll
  for (int i = 1; i < STEPS; ++i) multiply_next(sums, rows->rest[i], rounded + i * (B_STEP_BYTES / 16));
#pragma unroll
  for (int i = 0; i < STEPS; ++i) multiply_next(sums, rows->rounded[i], rest + i * (B_STEP_BYTES / 16));
#pragma unroll
  for (int i = 0; i < STEPS; ++i) multiply_next(sums, rows->rounded[i], rounded + i * (B_STEP_BYTES / 16));
  close_products();
  if (later) read_rows(later, from);
  refill_stage_before(ring, stage);
  wait_for_products();
  hold(sums);
  if (elects()) arrive(ring->left + ring->slot * 8);
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    totals[i / 4][i % 4] += sums[i];
    asm volatile("" : "+f"(totals[i / 4][i % 4]));  // now, or sums of several stages would be kept
  }
  ring->slot_before = ring->slot;
  ring->parity_before = ring->parity;
  ring->slot = ring->slot + 1 == STAGES ? 0 : ring->slot + 1;
  ring->parity ^= ring->slot == 0;
}

// Sums of the tile whose panels begin at `a` and `b`: this lane's, of its warp's rows.
ALWAYS_INLINE void multiply_panels(float totals[ROW_BLOCKS][PAIRS][4], __local Panels *panels, __global const uchar *a,
                                   __global const uchar *b, const long steps) {
  const int item = (int)get_local_id(0);
  const int count = (int)steps / STEPS;
  Ring ring;
  begin_ring(&ring, panels, b, count);
  a += item / 32 * STEP_BYTES + item % 32 * CHUNK_BYTES;
  Rows rows[SETS];
#pragma unroll
  for (int i = 0; i < FETCHED; ++i) read_rows(&rows[i], a + (long)min(i, count - 1) * (STEPS * A_STEP_BYTES));
#pragma unroll
  for (int i = 0; i < PAIRS * 4; ++i) totals[0][i / 4][i % 4] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  int stage = 0;
#pragma unroll 1
  for (; stage + SETS <= count; stage += SETS) {
    // Unrolled, so that rows stay in the registers into which they are read: to move them would be to wait for them.
#pragma unroll
    for (int i = 0; i < SETS; ++i) {
      multiply_stage(totals[0], &ring, stage + i, &rows[i], &rows[(i + FETCHED) % SETS],
                     a + (long)min(stage + i + FETCHED, count - 1) * (STEPS * A_STEP_BYTES));
    }
  }
#pragma unroll
  for (int i = 0; i < SETS - 1; ++i) {
    if (stage + i < count) multiply_stage(totals[0], &ring, stage + i, &rows[i], 0, a);
  }
}
