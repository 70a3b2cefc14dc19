// gemm, register, by dot products: for processors, where C has few rows and both operands lie along k. Options: WORK_M,
// WORK_N, WIDTH (of a vector register).
//
//          p ->                     p ->
//     +-----------+            +-----------+           One work-item, a group of its own, computes WORK_M x WORK_N
//     |A ~~~~~~~~ | row     B  | ~~~~~~~~~ | column    elements of C. Both operands are read as they are stored, WIDTH
//     |  ~~~~~~~~ |            | ~~~~~~~~~ |           numbers at a time, and multiplied place by place into WIDTH sums
//     +-----------+            | ~~~~~~~~~ |           for each element; at the end these are added up, in order, and
//                              +-----------+           the products behind the last whole vector.
//
// Every element of B, the larger operand here, is read m / WORK_M times, and nothing is written but C. Packing B into
// panels would read and write it once more. A row or column that is not there is replaced by the last one, and its sums
// are not stored. C that is a single column is computed as a row. So every product of a matrix and a vector comes here,
// or to gemm_register_panels.cl, which then reads the matrix in place. On two Sapphire Rapids cores (PoCL 3.1, float32)
// 1 x 2048 x 2048 takes 0.5 ms; from panels it took 12 ms.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWORK_M=4 -DWORK_N=4 -DWIDTH=16
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWORK_M=2 -DWORK_N=4 -DWIDTH=4
#include "ops/gemm/gemm_operands.cl"
#include "ops/gemm/gemm_register_sum.cl"
#include "ops/vector.cl"

static inline real sum_of(const vector v) {
  real numbers[WIDTH];
  STORE_VECTOR(v, 0, numbers);
  real sum = 0;
  for (int i = 0; i < WIDTH; ++i) sum += numbers[i];
  return sum;
}

// Groups: tiles of C, down a column of tiles first, then product by product, then part by part of k.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void gemm_register_dots(GEMM_PARAMETERS,
                                                                                const Parts parts) {
  const long rows_of_tiles = (gemm.m + WORK_M - 1) / WORK_M;
  const long columns_of_tiles = (gemm.n + WORK_N - 1) / WORK_N;
  const long group = (long)get_group_id(0);
  const long column_of_all = quotient(group, rows_of_tiles);
  const long row = (group - column_of_all * rows_of_tiles) * WORK_M;
  const long result = quotient(column_of_all, columns_of_tiles);
  const long column = (column_of_all - result * columns_of_tiles) * WORK_N;
  const long part = quotient(result, gemm.batch);
  const long product = result - part * gemm.batch;
  const long first_p = part * parts.length;
  const long count = min(parts.length, gemm.k - first_p);

  __global const real *a_row[WORK_M];
  __global const real *b_column[WORK_N];
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
    a_row[i] = a + a_first + product * gemm.stride_a + min(row + i, gemm.m - 1) * gemm.lda + first_p;
  }
#pragma unroll
  for (int j = 0; j < WORK_N; ++j) {
    b_column[j] = b + b_first + product * gemm.stride_b + min(column + j, gemm.n - 1) * gemm.ldb + first_p;
  }

  vector sums[WORK_M][WORK_N];
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) sums[i][j] = (vector)(0);
  }
  long p = 0;
  for (; p + WIDTH <= count; p += WIDTH) {
    vector b_numbers[WORK_N];
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) b_numbers[j] = LOAD_VECTOR(0, b_column[j] + p);
#pragma unroll
    for (int i = 0; i < WORK_M; ++i) {
      const vector a_numbers = LOAD_VECTOR(0, a_row[i] + p);
#pragma unroll
      for (int j = 0; j < WORK_N; ++j) sums[i][j] += a_numbers * b_numbers[j];
    }
  }

  c += c_first + result * gemm.stride_c;
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) {
      real sum = sum_of(sums[i][j]);
      for (long q = p; q < count; ++q) sum += a_row[i][q] * b_column[j][q];
      if (row + i < gemm.m && column + j < gemm.n) {
        store_result(&c[(row + i) * gemm.ldc + column + j], sum, gemm.alpha, gemm.beta);
      }
    }
  }
}
