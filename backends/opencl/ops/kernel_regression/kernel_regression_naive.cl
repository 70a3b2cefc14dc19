// kernel_regression, naive: one work-item a training row, and a second launch that adds up (kernel_regression_sums.cl).
//
//   training set               distances    A work-item compares one row with one query, number by number, from global
//   +-----------+              +---+        memory: neighbours read rows that lie far apart. The study's first version
//   | row 0     |  - query ->  | D |        added the weights by atomics, in the order in which they came.
//   | row 1     |              | D |
//   | ...       |              | . |        Queries are taken in rounds whose distances fit into the workspace.
//   +-----------+              +---+
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0
#include "ops/kernel_regression/kernel_regression_rows.cl"

// Only what it works on: each further pointer would cost the launch some time.
__kernel void kernel_regression_naive(__global const element *queries, const ulong queries_first,
                                      __global const element *training, const ulong training_first,
                                      __global squared *distances, const ulong distances_first,
                                      const Regression regression, const long round_number) {
  const long row = (long)get_global_id(0);
  const long in_round = (long)get_global_id(1);
  const long query = round_number * regression.queries_of_round + in_round;
  if (row >= regression.training_rows || query >= regression.queries) return;
  distances[distances_first + in_round * regression.training_rows + row] =
      distance_of(queries + queries_first + query * regression.columns,
                  training + training_first + row * regression.columns, regression.columns);
}
