// gemm, split: a group's tile of products. Options: those of gemm_operands.cl; WARPS_M x WARPS_N warps of 32 work-items;
// ROW_BLOCKS and COLUMN_BLOCKS of 16 that a warp computes.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4
#include "ops/gemm/gemm_split_panels.cl"

#define PAIRS (2 * COLUMN_BLOCKS)
#define TILE_M (WARPS_M * ROW_BLOCKS * BLOCK_ROWS)
#define TILE_N (WARPS_N * COLUMN_BLOCKS * BLOCK_ROWS)
#define ITEMS (32 * WARPS_M * WARPS_N)
#define A_STEP_BYTES (TILE_M / BLOCK_ROWS * STEP_BYTES)
#define B_STEP_BYTES (TILE_N / BLOCK_ROWS * STEP_BYTES)
