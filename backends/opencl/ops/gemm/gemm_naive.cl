// gemm, naive: one work-item, one element of C.
//
//            p ->              column                     A work-group is 32 x 8 work-items, or as the tuning says
//        +---------+         +---+---+                    (fewer where a device allows fewer). Groups stand in a line,
//   row  |=========|       p |   | | |     one element    columns first, then rows, then the products of a batch, so
//        |    A    |       | |   | | |  =  of C           that no second extent has a limit.
//        +---------+       v |   | | |
//                            +---+---+
//
// Every element of A is read n times and every element of B m times, from global memory or whatever cache there is:
// nothing is reused on purpose. That is its purpose: the plain one that works wherever OpenCL does, and the kernel that
// the others are compared with. Columns run along the first extent, so neighbouring work-items read neighbouring
// elements of B and write neighbouring elements of C.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DGROUP_X=32 -DGROUP_Y=8
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DGROUP_X=4 -DGROUP_Y=4
#include "ops/gemm/gemm_operands.cl"

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) __kernel void gemm_naive(GEMM_PARAMETERS) {
  const Block block = block_of_group((long)get_group_id(0), gemm.m, gemm.n, GROUP_Y, GROUP_X);
  const long row = block.first_row + (long)get_local_id(1);
  const long column = block.first_column + (long)get_local_id(0);
  if (row >= gemm.m || column >= gemm.n) return;

  a += a_first + block.product * gemm.stride_a;
  b += b_first + block.product * gemm.stride_b;
  c += c_first + block.product * gemm.stride_c;
  real sum = 0;
  for (long p = 0; p < gemm.k; ++p) sum += a[A_INDEX(row, p)] * b[B_INDEX(p, column)];
  store_result(&c[row * gemm.ldc + column], sum, gemm.alpha, gemm.beta);
}
