// What every gemm kernel shares; compiled in front of each. Options: FLOAT64, TRANSPOSE_A and TRANSPOSE_B, each 0 or 1.
//
//   C = alpha * op(A) * op(B) + beta * C        op(A) is m x k, op(B) is k x n, C is m x n, rows lie ld elements apart
//
//   A as stored, plain: row r, column p at r * lda + p      transposed: row p, column r at p * lda + r
//   B as stored, plain: row p, column c at p * ldb + c      transposed: row c, column p at c * ldb + p
#if FLOAT64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

// Where op(A)[row][p] and op(B)[p][column] lie. In 64 bits: a matrix may have more than 2^31 elements.
#if TRANSPOSE_A
#define A_INDEX(row, p) ((p)*lda + (row))
#else
#define A_INDEX(row, p) ((row)*lda + (p))
#endif
#if TRANSPOSE_B
#define B_INDEX(p, column) ((column)*ldb + (p))
#else
#define B_INDEX(p, column) ((p)*ldb + (column))
#endif

// Every kernel's parameters: three operands, each with the first element that is its own; then the problem. The host
// passes k = 0 and alpha = 0 when A and B are not to be read.
#define GEMM_PARAMETERS                                                                                             \
  __global const real *restrict a, const ulong a_first, __global const real *restrict b, const ulong b_first,       \
      __global real *restrict c, const ulong c_first, const long m, const long n, const long k, const long lda,     \
      const long ldb, const long ldc, const real alpha, const real beta

// With beta = 0, C is not read, so that what was in it (perhaps NaN) does not count.
inline void store_result(__global real *place, const real sum, const real alpha, const real beta) {
  if (beta == 0) {
    *place = alpha * sum;
  } else {
    *place = alpha * sum + beta * *place;
  }
}
