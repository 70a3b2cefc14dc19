// gemm, split: products of prepared operands by NVIDIA's tensor cores. A group computes a tile of C (gemm_split_tile.cl) and
// stores it, or computes anew what is in doubt (gemm_split_store.cl). Options: those of gemm_split_tile.cl.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARP_GROUPS=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=3
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWARP_GROUPS=1 -DWARPS_M=4 -DWARPS_N=1 -DROW_BLOCKS=1 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=8
#include "ops/gemm/gemm_split_store.cl"

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_split_products(
    __global const float *restrict a, const ulong a_first, __global const float *restrict b, const ulong b_first,
    __global float *restrict c, const ulong c_first, __global const uchar *restrict workspace,
    const ulong workspace_first, const Gemm gemm, const Split split, const long round_number) {
  __local Panels panels;
  const Tile tile = tile_of_group((long)get_group_id(0), &split);
  const long of_batch = round_number * split.batch + tile.product;
  if (of_batch >= gemm.batch) return;
  workspace += workspace_first;
  const long a_row = (split.a_matrices == 1 ? 0 : tile.product * split.a_rows) + tile.row * TILE_M;
  const long b_row = (split.b_matrices == 1 ? 0 : tile.product * split.b_rows) + tile.column * TILE_N;

  float totals[ROW_BLOCKS][PAIRS][4];
  multiply_panels(totals, &panels, workspace + a_row * split.steps * (STEP_BYTES / BLOCK_ROWS),
                  workspace + split.b_panels + b_row * split.steps * (STEP_BYTES / BLOCK_ROWS), split.steps);

  Product product;
  product.a = a + a_first + of_batch * gemm.stride_a;
  product.b = b + b_first + of_batch * gemm.stride_b;
  product.c = c + c_first + of_batch * gemm.stride_c;
  product.has_pairs = ((c_first | gemm.ldc | (gemm.batch == 1 ? 0 : gemm.stride_c)) & 1) == 0;
  const long first_row = tile.row * TILE_M + warp_row() * BLOCK_ROWS;
  const long first_column = tile.column * TILE_N + warp_column() * BLOCK_ROWS;
  product.rows = (__global const Note *)(workspace + split.a_notes) + a_row - tile.row * TILE_M;
  product.columns = (__global const Note *)(workspace + split.b_notes) + b_row - tile.column * TILE_N;
  store_sums(gemm, &product, totals, first_row, first_column);
}
