// gemm, register, where k was split: adds up what the parts of k gave. Included by the kernels that make the parts.
//
//      part 0    part 1    part 2            C            One work-item, one element of C: it reads that element of
//     +------+  +------+  +------+        +------+        each part, in order, so that the sum has the same bits on
//     |  +   |  |  +   |  |  +   |  --->  |  +   |        every run, then scales it and writes it, the only time.
//     +------+  +------+  +------+        +------+
//
// A part holds a matrix for each product of the batch, m x n, rows `width` apart. Splitting is for products with few
// blocks and long sums, which would leave most of a device idle: the parts are small then and still in its cache. The
// second launch takes about 3 us on a GPU, so short sums are not split.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0
#include "ops/gemm/gemm_operands.cl"
#include "ops/sum_of_parts.cl"

// How k is split: the host's GemmParts.
typedef struct {
  long count;
  long length;  // k of a part, but perhaps the last
  long width;   // elements from one row of a part to the next
} Parts;
SIZE_ON_THE_HOST(Parts, 24);

__kernel void gemm_register_sum(__global const real *restrict sums, const ulong sums_first, __global real *restrict c,
                                const ulong c_first, const Gemm gemm, const Parts parts) {
  const long element = (long)get_global_id(0);
  const long row_of_all = quotient(element, gemm.n);
  const long column = element - row_of_all * gemm.n;
  const long product = quotient(row_of_all, gemm.m);
  const long row = row_of_all - product * gemm.m;
  if (product >= gemm.batch) return;
  sums += sums_first + row_of_all * parts.width + column;
  const long part_step = gemm.batch * gemm.m * parts.width;
  const real sum = sum_of_parts(sums, parts.count, part_step);
  store_result(&c[c_first + product * gemm.stride_c + row * gemm.ldc + column], sum, gemm.alpha, gemm.beta);
}
