// gemm, tiled: square tiles of A and B in local memory. Option: TILE.
//
//              k                        n
//        +---+---+---+            +---+---+---+         A work-group is TILE x TILE work-items and computes one
//        |   |   |   |            |   | B |   |         TILE x TILE block of C, one element each. It walks along k:
//      m +---+---+---+   * ->     +---+---+---+  k      in each step the group copies one tile of A and one of B
//        | A ===>    |            |   | | |   |         into local memory, one element of each a work-item; after
//        +---+---+---+            |   | v |   |         the barrier every work-item adds TILE products of a row of
//                                 +---+---+---+         the one and a column of the other; a second barrier, next.
//
// Every element of A is read n / TILE times and every element of B m / TILE times from global memory, TILE times fewer
// than by the naive kernel. Reads of global memory always run along a stored row, whether a matrix is transposed or
// not: a transposed tile is turned while it is written to local memory, whose rows are one element longer then, so
// that writing down a column does not meet the same bank again and again. What lies outside of A or B counts as 0
// times 0, so edges need no loop of their own and a NaN or infinity inside is never lost or made up. Tiles that lie
// inside are copied without asking for each element: on PoCL, whose compiler makes one loop of the work-items, that
// and leaving the inner loop to the compiler made this kernel 2 to 4 times as fast for tiles of 8 and 16.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE=16
#include "ops/gemm/gemm_operands.cl"

__attribute__((reqd_work_group_size(TILE, TILE, 1))) __kernel void gemm_tiled(GEMM_PARAMETERS) {
  __local real a_tile[TILE][TILE + TRANSPOSE_A];  // [row][p]
  __local real b_tile[TILE][TILE + TRANSPOSE_B];  // [p][column]
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  // The element of each tile that this work-item copies: x runs along the stored row.
  const int a_y = TRANSPOSE_A ? x : y;
  const int a_x = TRANSPOSE_A ? y : x;
  const int b_y = TRANSPOSE_B ? x : y;
  const int b_x = TRANSPOSE_B ? y : x;
  const Block block = block_of_group((long)get_group_id(0), gemm.m, gemm.n, TILE, TILE);
  const int block_is_inside = block.first_row + TILE <= gemm.m && block.first_column + TILE <= gemm.n;

  a += a_first + block.product * gemm.stride_a;
  b += b_first + block.product * gemm.stride_b;
  c += c_first + block.product * gemm.stride_c;
  real sum = 0;
  for (long first_p = 0; first_p < gemm.k; first_p += TILE) {
    const long a_row = block.first_row + a_y;
    const long a_p = first_p + a_x;
    const long b_p = first_p + b_y;
    const long b_column = block.first_column + b_x;
    if (block_is_inside && first_p + TILE <= gemm.k) {
      a_tile[a_y][a_x] = a[A_INDEX(a_row, a_p)];
      b_tile[b_y][b_x] = b[B_INDEX(b_p, b_column)];
    } else {
      a_tile[a_y][a_x] = a_row < gemm.m && a_p < gemm.k ? a[A_INDEX(a_row, a_p)] : 0;
      b_tile[b_y][b_x] = b_p < gemm.k && b_column < gemm.n ? b[B_INDEX(b_p, b_column)] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < TILE; ++p) sum += a_tile[y][p] * b_tile[p][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  const long row = block.first_row + y;
  const long column = block.first_column + x;
  if (row < gemm.m && column < gemm.n) store_result(&c[row * gemm.ldc + column], sum, gemm.alpha, gemm.beta);
}
