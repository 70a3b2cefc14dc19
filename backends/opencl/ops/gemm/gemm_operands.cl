// What every gemm kernel shares. Options: FLOAT64, TRANSPOSE_A and TRANSPOSE_B, each 0 or 1.
//
//   C = alpha * op(A) * op(B) + beta * C        op(A) is m x k, op(B) is k x n, C is m x n, rows lie ld elements apart
//
//   A as stored, plain: row r, column p at r * lda + p      transposed: row p, column r at p * lda + r
//   B as stored, plain: row p, column c at p * ldb + c      transposed: row c, column p at c * ldb + p
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1
#include "ops/host_struct.cl"
#include "ops/quotient.cl"
#include "ops/real.cl"

// Where op(A)[row][p] and op(B)[p][column] lie. In 64 bits: a matrix may have more than 2^31 elements.
#if TRANSPOSE_A
#define A_INDEX(row, p) ((p)*gemm.lda + (row))
#else
#define A_INDEX(row, p) ((row)*gemm.lda + (p))
#endif
#if TRANSPOSE_B
#define B_INDEX(p, column) ((column)*gemm.ldb + (p))
#else
#define B_INDEX(p, column) ((p)*gemm.ldb + (column))
#endif

// The problem: the host's GemmScalars. Product i of the batch has its matrices i strides further on. The host passes
// k = 0 and alpha = 0 when A and B are not to be read.
typedef struct {
  long m, n, k;
  long lda, ldb, ldc;
  long stride_a, stride_b, stride_c;
  long batch;
  real alpha, beta;
} Gemm;
SIZE_ON_THE_HOST(Gemm, FLOAT64 ? 96 : 88);

// What kernels' parameters begin with: three operands, each with the first element that is its own; then the problem.
#define GEMM_OPERANDS                                                                                         \
  __global const real *restrict a, const ulong a_first, __global const real *restrict b, const ulong b_first, \
      __global real *restrict c, const ulong c_first
#define GEMM_PARAMETERS GEMM_OPERANDS, const Gemm gemm

// The block of C that a group computes. Groups stand in one line: along a row of blocks first, then down, then product
// by product.
typedef struct {
  long product;
  long first_row;
  long first_column;
} Block;

static inline Block block_of_group(const long group, const long m, const long n, const long rows, const long columns) {
  const long blocks_per_row = quotient(n + columns - 1, columns);
  const long blocks = blocks_per_row * quotient(m + rows - 1, rows);
  Block block;
  block.product = quotient(group, blocks);
  const long in_product = group - block.product * blocks;
  block.first_row = quotient(in_product, blocks_per_row);
  block.first_column = (in_product - block.first_row * blocks_per_row) * columns;
  block.first_row *= rows;
  return block;
}

// With beta = 0, C is not read, so that what was in it (perhaps NaN) does not count.
static inline void store_result(__global real *place, const real sum, const real alpha, const real beta) {
  if (beta == 0) {
    *place = alpha * sum;
  } else {
    *place = alpha * sum + beta * *place;
  }
}
