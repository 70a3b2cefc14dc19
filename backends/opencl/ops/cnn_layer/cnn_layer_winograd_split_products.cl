// cnn_layer, winograd_split: products of transformed weights and pixels by NVIDIA's tensor cores. A group computes a tile of
// one point's (gemm_split_tile.cl). Options: those of gemm_split_tile.cl.
//
//   of a warp, 16 output channels by 8 tiles     Sums leave as a warp has them in registers: lane 4 g + t has, of rows g
//   +---+---+---+---+                            and g + 8, columns 2 t and 2 t + 1. Its four lie together, so that such a
//   |512|512|512|512|  bytes                     block is one piece of memory; beside each other along the tiles blocks lie
//   +---+---+---+---+                            one behind the other, then those of the next 16 channels.
//
// Those of an output channel are divided by the power of two of its weights; that of the pixels is left to the transform
// back, which is linear. What is in doubt is found there too.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=0 -DWARP_GROUPS=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=3
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=0 -DWARP_GROUPS=2 -DWARPS_M=8 -DWARPS_N=1 -DROW_BLOCKS=1 -DCOLUMN_BLOCKS=8 -DSTEPS=1 -DSTAGES=5
#include "ops/gemm/gemm_split_scale.cl"
#include "ops/gemm/gemm_split_tile.cl"

#define BLOCK_TILES 8
#define BLOCK_SUMS (BLOCK_ROWS * BLOCK_TILES)

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_split_products(
    __global const uchar *restrict weights, const ulong weights_first, __global uchar *restrict workspace,
    const ulong workspace_first, const Gemm gemm, const Split split) {
  __local Panels panels;
  const Tile tile = tile_of_group((long)get_group_id(0), &split);
  const long a_row = tile.product * split.a_rows + tile.row * TILE_M;
  const long b_row = tile.product * split.b_rows + tile.column * TILE_N;
  weights += weights_first;
  workspace += workspace_first;
  float totals[ROW_BLOCKS][PAIRS][4];
  multiply_panels(totals, &panels, weights + a_row * split.steps * (STEP_BYTES / BLOCK_ROWS),
                  workspace + split.b_panels + b_row * split.steps * (STEP_BYTES / BLOCK_ROWS), split.steps);

  const int lane = (int)get_local_id(0) % 32;
  const long row = tile.row * TILE_M + warp_row() * BLOCK_ROWS;
  const long column = tile.column * TILE_N + warp_column() * BLOCK_ROWS;
  __global const Note *const notes =
      (__global const Note *)(weights + split.a_notes) + tile.product * split.a_rows + row + lane / 4;
  int upper[ROW_BLOCKS], lower[ROW_BLOCKS];
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    upper[i] = notes[i * BLOCK_ROWS].shift;
    lower[i] = notes[i * BLOCK_ROWS + 8].shift;
  }
  __global float *const products = (__global float *)(workspace + split.products) + tile.product * gemm.stride_c +
                                   row * gemm.ldc + column * BLOCK_ROWS + lane * 4;
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i) {
    if (row + i * BLOCK_ROWS < gemm.m) {
#pragma unroll
      for (int j = 0; j < PAIRS; ++j) {
        *(__global float4 *)(products + i * BLOCK_ROWS * gemm.ldc + j * BLOCK_SUMS) =
            (float4)(scaled_back(totals[i][j][0], upper[i]), scaled_back(totals[i][j][1], upper[i]),
                     scaled_back(totals[i][j][2], lower[i]), scaled_back(totals[i][j][3], lower[i]));
      }
    }
  }
}
