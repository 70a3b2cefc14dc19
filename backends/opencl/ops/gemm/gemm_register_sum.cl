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

__kernel void gemm_register_sum(__global const real *restrict parts, const ulong parts_first, __global real *restrict c,
                                const ulong c_first, const long m, const long n, const long ldc, const long stride_c,
                                const real alpha, const real beta, const long batch, const long width,
                                const int count) {
  const long element = (long)get_global_id(0);
  const long row_of_all = quotient(element, n);
  const long column = element - row_of_all * n;
  const long product = quotient(row_of_all, m);
  const long row = row_of_all - product * m;
  if (product >= batch) return;
  parts += parts_first + row_of_all * width + column;
  real sum = *parts;
  for (int i = 1; i < count; ++i) sum += parts[i * (batch * m * width)];
  store_result(&c[c_first + product * stride_c + row * ldc + column], sum, alpha, beta);
}
