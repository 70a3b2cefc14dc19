// kernel_regression, two_kernels: the matrix of differences from one query, written out, then its rows' norms and sums.
//
//   training set - query      differences     norms        The study's third version, whose blocks were lines (1D) or
//   +---------------+         +---------+     +-+          rectangles (2D) of threads. Here a group of the first launch
//   | . . . . . . . |   ->    | . . . . |  -> | |  -> sums computes a block of differences, one a work-item. Of the second
//   | . . . . . . . |         | . . . . |     | |          NORM_COLUMNS work-items share a row and join what they have.
//   +---------------+         +---------+     +-+          With one of them a row, its norm is a work-item's own loop.
//
// Rows are taken in chunks whose differences fit into the workspace, one query after the other. The norms launch reads
// the rows too: a row that is not finite, or too long, is infinitely far whatever the difference is.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNORM_COLUMNS=16 -DNORM_ROWS=16
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNORM_COLUMNS=1 -DNORM_ROWS=64
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNORM_COLUMNS=8 -DNORM_ROWS=8
#include "ops/kernel_regression/kernel_regression_rows.cl"

#if BYTES
typedef short difference;
#else
typedef element difference;
#endif

__kernel void kernel_regression_differences(KERNEL_REGRESSION_OPERANDS, __global difference* differences,
                                            const ulong differences_first, const Regression regression,
                                            const long round_number) {
  const long query = quotient(round_number, regression.chunks);
  const long column = (long)get_global_id(0);
  const long in_chunk = (long)get_global_id(1);
  const long row = (round_number - query * regression.chunks) * regression.rows_of_chunk + in_chunk;
  if (column >= regression.columns || in_chunk >= regression.rows_of_chunk || row >= regression.training_rows) return;
  differences[differences_first + in_chunk * regression.columns + column] =
      (difference)(queries[queries_first + query * regression.columns + column] -
                   training[training_first + row * regression.columns + column]);
}

__kernel void kernel_regression_norms(KERNEL_REGRESSION_OPERANDS, __global const difference* differences,
                                      const ulong differences_first, const Regression regression,
                                      const long round_number) {
  __local squared sums[NORM_ROWS * NORM_COLUMNS];
#if !BYTES
  __local squared lengths[NORM_ROWS * NORM_COLUMNS];
  __local squared query_lengths[NORM_ROWS * NORM_COLUMNS];
#endif
  const long query = quotient(round_number, regression.chunks);
  const int x = (int)get_local_id(0);
  const int item = (int)get_local_id(1) * NORM_COLUMNS + x;
  const long in_chunk = (long)get_global_id(1);
  const long row = (round_number - query * regression.chunks) * regression.rows_of_chunk + in_chunk;
  const int is_there = in_chunk < regression.rows_of_chunk && row < regression.training_rows;
  squared sum = 0;
  squared length = 0;
  squared query_length = 0;
  for (long column = x; is_there && column < regression.columns; column += NORM_COLUMNS) {
    const squared away = (squared)differences[differences_first + in_chunk * regression.columns + column];
    sum += away * away;
#if !BYTES
    const squared number = training[training_first + row * regression.columns + column];
    const squared of_query = queries[queries_first + query * regression.columns + column];
    length += number * number;
    query_length += of_query * of_query;
#endif
  }
  sums[item] = sum;
#if !BYTES
  lengths[item] = length;
  query_lengths[item] = query_length;
#endif
#pragma unroll 1
  for (int apart = NORM_COLUMNS / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < apart) {
      sums[item] += sums[item + apart];
#if !BYTES
      lengths[item] += lengths[item + apart];
      query_lengths[item] += query_lengths[item + apart];
#endif
    }
  }
  if (x != 0 || !is_there) return;
#if BYTES
  distances[distances_first + row] = sums[item];
#else
  const int counts = isfinite(lengths[item]) && isfinite(query_lengths[item]);
  distances[distances_first + row] = counts ? sums[item] : INFINITELY_FAR;
#endif
}
