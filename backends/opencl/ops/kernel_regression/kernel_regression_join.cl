// kernel_regression by tiles, last launch: a query's results from its states, by a group of GROUP work-items.
//
//   block      0         1         2               Blocks are joined from the first to the last. Each work-item walks over
//           +-------+ +-------+ +-------+          all of them for numbers of its own, every GROUP-th, and finds the
//   query   | state | | state | | state | ->       least distances and weights for itself: nobody waits for anybody.
//           +-------+ +-------+ +-------+  results
//
// A slab of a training set goes on from what the slabs before have left in `before`, and leaves in `after`, of each query:
// rows met so far, and a state.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DGROUP=32
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DGROUP=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DGROUP=16
#include "ops/kernel_regression/kernel_regression_state.cl"

// A query's joined sums, as far as one work-item needs them.
typedef struct {
  double least;
  double row;
  double sum;
  double squares;
  double number;  // the one it is asked for
} Joined;

// Of a slab, what lies in `before` and `after` of a query.
static inline long kept_size(const Regression regression) {
  return 1 + state_size(regression);
}

// What the slabs before have left, with the number at `place`. Rows count from the whole set's first.
static inline Joined joined_before(__global const double* before, const long place) {
  const Joined all = {before[1 + STATE_LEAST], before[1 + STATE_ROW], before[1 + STATE_SUM], before[1 + STATE_SQUARES],
                      before[1 + place]};
  return all;
}

// To `all`, the states that lie `step` apart, the one at `place` joined besides what everybody needs.
static inline Joined join_states(Joined all, __global const double* state, const long step, const long blocks,
                                 const long place, const long first_row, const Regression regression) {
  for (long block = 0; block < blocks; ++block, state += step) {
    const double least = state[STATE_LEAST];
    if (isinf(least)) continue;
    double weight = 1;
    if (least < all.least) {
      const double kept = isinf(all.least) ? 0 : kept_weight(all.least, least, regression);
      all.sum = scaled(all.sum, kept);
      all.squares = scaled(all.squares, kept * kept);
      all.number = scaled(all.number, kept);
      all.least = least;
      all.row = (double)first_row + state[STATE_ROW];
    } else {
      weight = kept_weight(least, all.least, regression);
    }
    if (weight == 0) continue;  // a sum that is not finite stays out where it has no part
    all.sum += weight * state[STATE_SUM];
    all.squares += weight * weight * state[STATE_SQUARES];
    all.number += weight * state[place];
  }
  return all;
}

// One group a query of the round; `blocks` states of each, queries_of_round states from block to block.
__kernel void kernel_regression_join(__global const double* states, const ulong states_first, __global result* values,
                                     const ulong values_first, __global result* votes, const ulong votes_first,
                                     __global long* nearest_row, const ulong nearest_row_first,
                                     __global squared* nearest_squared, const ulong nearest_squared_first,
                                     __global result* neighbours, const ulong neighbours_first,
                                     __global const double* before, const ulong before_first, __global double* after,
                                     const ulong after_first, const Regression regression, const long round_number) {
  const long in_round = (long)get_group_id(0);
  const long query = round_number * regression.queries_of_round + in_round;
  if (query >= regression.queries) return;
  const long size = state_size(regression);
  const long item = (long)get_local_id(0);
  before += before_first + query * kept_size(regression);
  after += after_first + query * kept_size(regression);
  const long first_row = regression.is_slab ? (long)before[0] : 0;
  for (long place = STATE_SUMS + item; place < size; place += GROUP) {
    const Joined none = {INFINITY, -1, 0, 0, 0};
    const Joined all = join_states(first_row == 0 ? none : joined_before(before, place),
                                   states + states_first + in_round * size, regression.queries_of_round * size,
                                   regression.chunks, place, first_row, regression);
    const int has_met = !isinf(all.least);
    const long number = place - STATE_SUMS;
    if (number < regression.outputs) {
      values[values_first + query * regression.outputs + number] =
          has_met ? (result)ratio(all.number, all.sum) : (result)NAN;
    } else {
      votes[votes_first + query * regression.classes + number - regression.outputs] =
          has_met ? (result)all.number : (result)NAN;
    }
    if (regression.is_slab) after[1 + place] = all.number;
    if (number != 0) continue;
    if (regression.is_slab) {
      after[0] = (double)(first_row + regression.training_rows);
      after[1 + STATE_LEAST] = all.least;
      after[1 + STATE_ROW] = all.row;
      after[1 + STATE_SUM] = all.sum;
      after[1 + STATE_SQUARES] = all.squares;
    }
    if (regression.has_nearest) {
      nearest_row[nearest_row_first + query] = (long)all.row;
#if BYTES
      nearest_squared[nearest_squared_first + query] = (squared)all.least;
#else
      nearest_squared[nearest_squared_first + query] = has_met ? (squared)all.least : (squared)NAN;
#endif
    }
    if (regression.has_neighbours) {
      neighbours[neighbours_first + query] = has_met ? (result)ratio(all.sum * all.sum, all.squares) : (result)NAN;
    }
  }
}
