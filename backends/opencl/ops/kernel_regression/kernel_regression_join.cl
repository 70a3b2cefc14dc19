// kernel_regression by tiles, last launch: a query's results from its states, by a group of GROUP work-items.
//
//   block      0         1         2               Blocks are joined from the first to the last, GROUP at a time: each
//           +-------+ +-------+ +-------+          work-item fetches one of them and finds what it weighs beside those
//   query   | state | | state | | state | ->       before it. Then each walks over them for numbers of its own, every
//           +-------+ +-------+ +-------+  results GROUP-th. What it reads of memory does not wait for what it adds up.
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

// Of GROUP blocks, what work-items tell each other.
typedef struct {
  double least[GROUP], row[GROUP], sum[GROUP], squares[GROUP];
  double weight[GROUP];  // beside the nearest of all blocks up to this one
  double kept[GROUP];    // of those before it
} Blocks;

// What this work-item's block, and those before it, weigh beside each other; `before`: the least that was met before all.
static inline void weigh_block(__local Blocks* blocks, const double before, const int item,
                               const Regression regression) {
  const double own = blocks->least[item];
  double least = before;
  for (int i = 0; i < item; ++i) least = fmin(least, blocks->least[i]);
  const int is_nearer = own < least;
  double weight = 1;
  if (!is_nearer) weight = isinf(own) ? 0 : kept_weight(own, least, regression);
  blocks->weight[item] = weight;
  blocks->kept[item] = !is_nearer ? 1 : isinf(least) ? 0 : kept_weight(least, own, regression);
}

static inline void add_block(Joined* all, __local const Blocks* blocks, const int i, const double number,
                             const long first_row) {
  const double weight = blocks->weight[i];
  const double kept = blocks->kept[i];
  if (weight == 0) return;  // a sum that is not finite stays out where it has no part
  if (blocks->least[i] < all->least) {
    all->sum = scaled(all->sum, kept);
    all->squares = scaled(all->squares, kept * kept);
    all->number = scaled(all->number, kept);
    all->least = blocks->least[i];
    all->row = (double)first_row + blocks->row[i];
  }
  all->sum = fma(weight, blocks->sum[i], all->sum);
  all->squares = fma(weight * weight, blocks->squares[i], all->squares);
  all->number = fma(weight, number, all->number);
}

// To `all`, the states that lie `step` apart, the one at `place` joined besides what everybody needs. All work-items of
// the group call it.
static inline Joined join_states(Joined all, __local Blocks* blocks, __global const double* states, const long step,
                                 const long place, const long first_row, const int item,
                                 const Regression regression) {
  for (long first = 0; first < regression.chunks; first += GROUP) {
    const int count = (int)min(regression.chunks - first, (long)GROUP);
    __global const double* const state = states + first * step;
    double numbers[GROUP];  // all that waits for memory is asked for before anything waits
#pragma unroll
    for (int i = 0; i < GROUP; ++i) numbers[i] = i < count ? state[i * step + place] : 0;
    if (item < count) {
      blocks->least[item] = state[item * step + STATE_LEAST];
      blocks->row[item] = state[item * step + STATE_ROW];
      blocks->sum[item] = state[item * step + STATE_SUM];
      blocks->squares[item] = state[item * step + STATE_SQUARES];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count) weigh_block(blocks, all.least, item, regression);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
      if (i < count) add_block(&all, blocks, i, numbers[i], first_row);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // before the next blocks take the place of these
  }
  return all;
}

// One group a query of the round, which has a state of each block, queries_of_round states from one to the next.
__kernel void kernel_regression_join(__global const double* states, const ulong states_first, __global result* values,
                                     const ulong values_first, __global result* votes, const ulong votes_first,
                                     __global long* nearest_row, const ulong nearest_row_first,
                                     __global squared* nearest_squared, const ulong nearest_squared_first,
                                     __global result* neighbours, const ulong neighbours_first,
                                     __global const double* before, const ulong before_first, __global double* after,
                                     const ulong after_first, const Regression regression, const long round_number) {
  __local Blocks blocks;
  const long in_round = (long)get_group_id(0);
  const long query = round_number * regression.queries_of_round + in_round;
  if (query >= regression.queries) return;
  const long size = state_size(regression);
  const int item = (int)get_local_id(0);
  before += before_first + query * kept_size(regression);
  after += after_first + query * kept_size(regression);
  const long first_row = regression.is_slab ? (long)before[0] : 0;
  // All work-items go round as often as the first, which has a number each time.
  for (long first = STATE_SUMS; first < size; first += GROUP) {
    const long place = min(first + item, size - 1);
    const Joined none = {INFINITY, -1, 0, 0, 0};
    const Joined all =
        join_states(first_row == 0 ? none : joined_before(before, place), &blocks,
                    states + states_first + in_round * size, regression.queries_of_round * size, place, first_row, item,
                    regression);
    const int has_met = !isinf(all.least);
    const long number = first + item - STATE_SUMS;
    if (number < regression.outputs) {
      values[values_first + query * regression.outputs + number] =
          has_met ? (result)ratio(all.number, all.sum) : (result)NAN;
    } else if (number < regression.outputs + regression.classes) {
      votes[votes_first + query * regression.classes + number - regression.outputs] =
          has_met ? (result)all.number : (result)NAN;
    }
    if (regression.is_slab && first + item < size) after[1 + place] = all.number;
    if (regression.is_slab && number == 0) {
      after[0] = (double)(first_row + regression.training_rows);
      after[1 + STATE_LEAST] = all.least;
      after[1 + STATE_ROW] = all.row;
      after[1 + STATE_SUM] = all.sum;
      after[1 + STATE_SQUARES] = all.squares;
    }
    if (regression.has_nearest && number == 0) {
      nearest_row[nearest_row_first + query] = (long)all.row;
#if BYTES
      nearest_squared[nearest_squared_first + query] = (squared)all.least;
#else
      nearest_squared[nearest_squared_first + query] = has_met ? (squared)all.least : (squared)NAN;
#endif
    }
    if (regression.has_neighbours && number == 0) {
      neighbours[neighbours_first + query] = has_met ? (result)ratio(all.sum * all.sum, all.squares) : (result)NAN;
    }
  }
}
