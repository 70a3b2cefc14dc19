// kernel_regression, one_kernel: one group a query, everything in one launch.
//
//   group q          distances of q The study's second version had 4 threads a block; here GROUP of them share out the
//   item 0 1 2 3     +-+-+-+-+-+--- rows, keep the distances in global memory, and add up as kernel_regression_sums.cl
//        v v v v ->  | | | | | |    says. A work-item reads again what it wrote itself, and after a barrier the least.
//   rows of the set  +-+-+-+-+-+---
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DGROUP=4
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DGROUP=64
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DGROUP=256
#include "ops/kernel_regression/kernel_regression_sums.cl"

__kernel void kernel_regression_one_kernel(KERNEL_REGRESSION_OPERANDS, const Regression regression,
                                           const long round_number) {
  __local Shared shared;
  const long in_round = (long)get_group_id(0);
  const long query = round_number * regression.queries_of_round + in_round;
  if (query >= regression.queries) return;
  const ulong first = (ulong)(in_round * regression.training_rows);
  for (long row = (long)get_local_id(0); row < regression.training_rows; row += GROUP) {
    distances[distances_first + first + row] =
        distance_of(queries + queries_first + query * regression.columns,
                    training + training_first + row * regression.columns, regression.columns);
  }
  write_results(queries, queries_first, training, training_first, targets, targets_first, values, values_first, votes,
                votes_first, nearest_row, nearest_row_first, nearest_squared, nearest_squared_first, neighbours,
                neighbours_first, distances, distances_first + first, weights, weights_first + first, query, regression,
                &shared);
}
