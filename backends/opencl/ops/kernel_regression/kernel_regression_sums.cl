// kernel_regression: a query's results from its distances, by a group of GROUP work-items, a power of two.
//
//   distances of one query     item 0 1 2 3 0 1 2 3 ...   Each work-item walks over every GROUP-th row: for the least
//   +-+-+-+-+-+-+-+-+---            v v v v               distance, for the weights, and once for each sum. What the
//   | | | | | | | | |               halves, quarters, ... work-items have is joined pair by pair in a fixed order, so
//   +-+-+-+-+-+-+-+-+---            one number            that the bits are the same on every run.
//
// Loops around a barrier are not unrolled: PoCL compiles what lies between two barriers once for each place.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DGROUP=64
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DGROUP=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DGROUP=16
#include "ops/kernel_regression/kernel_regression_rows.cl"

// What the work-items of a group tell each other.
typedef struct {
  squared least[GROUP];
  long row[GROUP];
  double sum[GROUP];
} Shared;

// The nearest row, the lowest of several, or -1; every work-item gets it, and sees that row's distance.
static inline long nearest_of(__global const squared* distances, const long rows, __local Shared* shared) {
  const int item = (int)get_local_id(0);
  squared least = INFINITELY_FAR;
  long nearest = -1;
  for (long row = item; row < rows; row += GROUP) {
    if (distances[row] < least) {
      least = distances[row];
      nearest = row;
    }
  }
  shared->least[item] = least;
  shared->row[item] = nearest;
#pragma unroll 1
  for (int apart = GROUP / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < apart) {
      const int other = item + apart;
      const squared there = shared->least[other];
      const squared here = shared->least[item];
      if (there < here || (there == here && there != INFINITELY_FAR && shared->row[other] < shared->row[item])) {
        shared->least[item] = there;
        shared->row[item] = shared->row[other];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return shared->row[0];
}

// The sum of what all work-items have; every work-item gets it.
static inline double sum_of(const double mine, __local Shared* shared) {
  const int item = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  shared->sum[item] = mine;
#pragma unroll 1
  for (int apart = GROUP / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < apart) shared->sum[item] += shared->sum[item + apart];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared->sum[0];
}

// Writes a query's results; all work-items of the group call it. distances and weights are those of the query.
static inline void write_results(KERNEL_REGRESSION_OPERANDS, const long query, const Regression regression,
                                 __local Shared* shared) {
  const int item = (int)get_local_id(0);
  const long rows = regression.training_rows;
  const long outputs = regression.outputs;
  distances += distances_first;
  weights += weights_first;
  targets += targets_first;
  values += values_first + query * outputs;
  votes += votes_first + query * regression.classes;
  const long nearest = nearest_of(distances, rows, shared);
  if (regression.has_nearest && item == 0) {
    nearest_row[nearest_row_first + query] = nearest;
#if BYTES
    nearest_squared[nearest_squared_first + query] = distances[nearest];
#else
    nearest_squared[nearest_squared_first + query] = nearest < 0 ? NAN : distances[nearest];
#endif
  }
  if (nearest < 0) {
    for (long r = item; r < outputs; r += GROUP) values[r] = NAN;
    for (long c = item; c < regression.classes; c += GROUP) votes[c] = NAN;
    if (regression.has_neighbours && item == 0) neighbours[neighbours_first + query] = NAN;
    return;
  }
  const squared least = distances[nearest];
  for (long row = item; row < rows; row += GROUP) {
    weights[row] = weight_of(distances[row], least, regression.factor, regression.is_euclidean);
  }
  // One sum after the other: of weights, of their squares, for each output, for each class. A target counts where its
  // row's weight is not 0: an infinite one stays out where it has no part.
  double of_weights = 1;
  for (long number = 0; number < 2 + outputs + regression.classes; ++number) {
    double mine = 0;
    for (long row = item; row < rows; row += GROUP) {
      const double weight = (double)weights[row];
      double factor = 1;
      if (number == 1) factor = weight;
      if (number >= 2 && weight != 0) {
        factor = number < 2 + outputs ? (double)targets[row * outputs + number - 2]
                                      : votes_for(targets[row * outputs], number - 2 - outputs);
      }
      mine += weight * factor;
    }
    const double sum = sum_of(mine, shared);
    if (number == 0) of_weights = sum;
    if (item != 0) continue;
    if (number == 1 && regression.has_neighbours) {
      neighbours[neighbours_first + query] = (result)ratio(of_weights * of_weights, sum);
    }
    if (number >= 2 && number < 2 + outputs) values[number - 2] = (result)ratio(sum, of_weights);
    if (number >= 2 + outputs) votes[number - 2 - outputs] = (result)sum;
  }
}

// One group a query of the round, whose distances are known. Of several chunks of rows the last one is waited for.
__kernel void kernel_regression_sums(KERNEL_REGRESSION_OPERANDS, const Regression regression, const long round_number) {
  __local Shared shared;
  const long pass = quotient(round_number, regression.chunks);
  if (round_number - pass * regression.chunks != regression.chunks - 1) return;
  const long in_round = (long)get_group_id(0);
  const long query = pass * regression.queries_of_round + in_round;
  if (query >= regression.queries) return;
  const ulong first = (ulong)(in_round * regression.training_rows);
  write_results(queries, queries_first, training, training_first, targets, targets_first, values, values_first, votes,
                votes_first, nearest_row, nearest_row_first, nearest_squared, nearest_squared_first, neighbours,
                neighbours_first, distances, distances_first + first, weights, weights_first + first, query, regression,
                &shared);
}
