// gemm, split: sums of a tile by single warps, from sm_80 on. Options: those of gemm_split_tile_shape.cl; STEPS of 16 in a
// stage; STAGES.
//
// Stages of both operands go round in local memory, by copies that pass no register: a stage is one piece of a tile's
// panels. A lane reads what an instruction wants of it in one piece of 16 bytes, so ldmatrix has no use. From local memory
// every byte is read once by each warp that needs it, for three products.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=3
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=2 -DCOLUMN_BLOCKS=2 -DSTEPS=2 -DSTAGES=3
#include "ops/gemm/gemm_split_tile_shape.cl"
#include "ops/nvidia_halves.cl"

#define A_STAGE_BYTES (STEPS * A_STEP_BYTES)
#define B_STAGE_BYTES (STEPS * B_STEP_BYTES)
#define STAGE_BYTES (A_STAGE_BYTES + B_STAGE_BYTES)
#define A_COPIES (A_STAGE_BYTES / CHUNK_BYTES / ITEMS)
#define B_COPIES (B_STAGE_BYTES / CHUNK_BYTES / ITEMS)
#if A_COPIES * ITEMS * CHUNK_BYTES != A_STAGE_BYTES || B_COPIES * ITEMS * CHUNK_BYTES != B_STAGE_BYTES || STAGES < 2
#error "the work-items do not share out a stage evenly"
#endif

// What a group has in local memory.
typedef struct {
  uchar stages[STAGES * STAGE_BYTES] __attribute__((aligned(128)));
} Panels;

// Sums of 16 rows and all columns of the warp over a step.
ALWAYS_INLINE void multiply_block(float sums[PAIRS][4], __local const uint4 *a, const uint4 b_rounded[COLUMN_BLOCKS],
                                  const uint4 b_rest[COLUMN_BLOCKS]) {
  const uint4 a_rounded = a[0];
  const uint4 a_rest = a[HALF_BLOCK_BYTES / CHUNK_BYTES];
#pragma unroll
  for (int j = 0; j < COLUMN_BLOCKS; ++j) {
    begin_16x8(sums[2 * j], a_rest, b_rounded[j].lo);
    begin_16x8(sums[2 * j + 1], a_rest, b_rounded[j].hi);
  }
#pragma unroll
  for (int j = 0; j < COLUMN_BLOCKS; ++j) {
    multiply_16x8(sums[2 * j], a_rounded, b_rest[j].lo);
    multiply_16x8(sums[2 * j + 1], a_rounded, b_rest[j].hi);
  }
#pragma unroll
  for (int j = 0; j < COLUMN_BLOCKS; ++j) {
    multiply_16x8(sums[2 * j], a_rounded, b_rounded[j].lo);
    multiply_16x8(sums[2 * j + 1], a_rounded, b_rounded[j].hi);
  }
}
ALWAYS_INLINE void add_block(float totals[PAIRS][4], const float sums[PAIRS][4]) {
#pragma unroll
  for (int j = 0; j < PAIRS; ++j) {
#pragma unroll
    for (int s = 0; s < 4; ++s) totals[j][s] += sums[j][s];
  }
}

// Adds the products of a step. Where this lane's pieces of the warp's first blocks lie: `a`, `b`.
ALWAYS_INLINE void multiply_step(float totals[ROW_BLOCKS][PAIRS][4], __local const uint4 *a, __local const uint4 *b) {
  uint4 b_rounded[COLUMN_BLOCKS], b_rest[COLUMN_BLOCKS];
#pragma unroll
  for (int j = 0; j < COLUMN_BLOCKS; ++j) {
    b_rounded[j] = b[j * (STEP_BYTES / CHUNK_BYTES)];
    b_rest[j] = b[j * (STEP_BYTES / CHUNK_BYTES) + HALF_BLOCK_BYTES / CHUNK_BYTES];
  }
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    float sums[PAIRS][4];
    multiply_block(sums, a + i * (STEP_BYTES / CHUNK_BYTES), b_rounded, b_rest);
    add_block(totals[i], sums);
  }
}

// This work-item's part in fetching stages, one after the other.
typedef struct {
  __global const uchar *a;
  __global const uchar *b;
  int left;  // stages that are not started
  uint to;   // where its first piece of a stage lies in local memory
} Fetch;

ALWAYS_INLINE void start_stage(Fetch *fetch, const int slot) {
  if (fetch->left == 0) return;
  const uint to = fetch->to + slot * STAGE_BYTES;
#pragma unroll
  for (int i = 0; i < A_COPIES; ++i) start_copy(to + i * ITEMS * CHUNK_BYTES, fetch->a + i * ITEMS * CHUNK_BYTES);
#pragma unroll
  for (int i = 0; i < B_COPIES; ++i) {
    start_copy(to + A_STAGE_BYTES + i * ITEMS * CHUNK_BYTES, fetch->b + i * ITEMS * CHUNK_BYTES);
  }
  fetch->a += A_STAGE_BYTES;
  fetch->b += B_STAGE_BYTES;
  --fetch->left;
}

// Sums of the tile whose panels begin at `a` and `b`: this lane's, of its warp's blocks.
ALWAYS_INLINE void multiply_panels(float totals[ROW_BLOCKS][PAIRS][4], __local Panels *panels, __global const uchar *a,
                                   __global const uchar *b, const long steps) {
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int warp_row = item / 32 / WARPS_N * ROW_BLOCKS, warp_column = item / 32 % WARPS_N * COLUMN_BLOCKS;
  Fetch fetch;
  fetch.a = a + item * CHUNK_BYTES;
  fetch.b = b + item * CHUNK_BYTES;
  const int count = (int)(steps / STEPS);
  fetch.left = count;
  fetch.to = (uint)(size_t)panels->stages + item * CHUNK_BYTES;
#pragma unroll
  for (int slot = 0; slot < STAGES - 1; ++slot) {
    start_stage(&fetch, slot);
    close_copies();
  }
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS * PAIRS * 4; ++i) totals[i / 4 / PAIRS][i / 4 % PAIRS][i % 4] = 0;
  int read = 0;
#pragma unroll 1
  for (int stage = 0; stage < count; ++stage) {
    wait_for_copies();
    // The stage is there for all, and nobody reads any more what the next one replaces.
    barrier(CLK_LOCAL_MEM_FENCE);
    start_stage(&fetch, read == 0 ? STAGES - 1 : read - 1);
    close_copies();
    __local const uchar *const begin = panels->stages + read * STAGE_BYTES;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      multiply_step(totals, (__local const uint4 *)(begin + step * A_STEP_BYTES + warp_row * STEP_BYTES) + lane,
                    (__local const uint4 *)(begin + A_STAGE_BYTES + step * B_STEP_BYTES + warp_column * STEP_BYTES) + lane);
    }
    read = read + 1 == STAGES ? 0 : read + 1;
  }
}
