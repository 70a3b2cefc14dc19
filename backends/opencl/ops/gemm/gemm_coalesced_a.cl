// gemm, coalesced_a: tiles of A in local memory, B from global memory. Option: TILE.
//
//              k                        n
//        +---+---+---+            +-----------+         A work-group is TILE x TILE work-items and computes one
//        |   |   |   |            |     |     |         TILE x TILE block of C, one element each. It walks along k:
//      m +---+---+---+   * ->     |     |     |  k      in each step the group copies one tile of A into local memory,
//        | A ===>    |            |     |     |         one element a work-item, neighbours along a stored row; after
//        +---+---+---+            |     v     |         the barrier every work-item adds TILE products of a row of the
//                                 +-----------+         tile and its column of B; a second barrier, next.
//
// Half of the step from naive to tiled, to see what each half brings. The naive kernel's trouble is A: all work-items
// of a row read the same element of it at once, and those of the next row one that lies lda elements away. Here every
// element of A is read n / TILE times instead of n, side by side. B is read m times as before: neighbouring work-items
// read neighbouring columns, which is side by side already unless B is transposed. Where k ends inside of a tile, the
// loop ends too, so that nothing outside of A or B is read and a NaN or infinity is neither lost nor made up.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE=16
#include "ops/gemm/gemm_operands.cl"

__attribute__((reqd_work_group_size(TILE, TILE, 1))) __kernel void gemm_coalesced_a(GEMM_PARAMETERS) {
  __local real a_tile[TILE][TILE + TRANSPOSE_A];  // [row][p], a row longer where it is written down a column
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  // The element of the tile that this work-item copies: x runs along the stored row.
  const int a_y = TRANSPOSE_A ? x : y;
  const int a_x = TRANSPOSE_A ? y : x;
  const Block block = block_of_group((long)get_group_id(0), gemm.m, gemm.n, TILE, TILE);
  const long a_row = block.first_row + a_y;
  const long row = block.first_row + y;
  const long column = block.first_column + x;
  const int is_inside = row < gemm.m && column < gemm.n;

  a += a_first + block.product * gemm.stride_a;
  b += b_first + block.product * gemm.stride_b;
  c += c_first + block.product * gemm.stride_c;
  real sum = 0;
  for (long first_p = 0; first_p < gemm.k; first_p += TILE) {
    const long a_p = first_p + a_x;
    a_tile[a_y][a_x] = a_row < gemm.m && a_p < gemm.k ? a[A_INDEX(a_row, a_p)] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_inside) {
      const int count = (int)min((long)TILE, gemm.k - first_p);
      for (int p = 0; p < count; ++p) sum += a_tile[y][p] * b[B_INDEX(first_p + p, column)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (is_inside) store_result(&c[row * gemm.ldc + column], sum, gemm.alpha, gemm.beta);
}
