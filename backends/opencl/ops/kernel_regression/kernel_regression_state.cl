// kernel_regression by tiles: what a query needs to know of the training rows of a block, and how a row is met.
//
//   state of (block, query), in double:   least | row | sum w | sum w^2 | sum f w of each output | sum w of each class
//
// Weights are relative to the nearest row so far. Rows are met one by one, from the first to the last: so the bits do not
// depend on the shape of tiles. A row that is further away than `furthest` weighs 0 and need not be met.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0
#include "ops/kernel_regression/kernel_regression_rows.cl"

#define STATE_LEAST 0
#define STATE_ROW 1
#define STATE_SUM 2
#define STATE_SQUARES 3
#define STATE_SUMS 4
#define STATE_OTHERS (STATE_SUMS + 1)

static inline long state_size(const Regression regression) {
  return STATE_SUMS + regression.outputs + regression.classes;
}

// What is left of a weight that was relative to a row at squared distance `before`, now that it is to one at `least`.
static inline double kept_weight(const double before, const double least, const Regression regression) {
  if (before == least) return 1;
  double above = before - least;
  if (regression.is_euclidean) above = ratio(above, sqrt(before) + sqrt(least));
  return exp(-regression.factor * above);
}

// Where nothing of a sum is left, 0 takes its place, though it was not finite.
static inline double scaled(const double sum, const double weight) {
  return weight == 0 ? 0 : sum * weight;
}

// The squared distance beyond which a row weighs nothing beside one at `least`: a little more than where exp() passes
// the smallest normal number.
static inline double furthest_from(const double least, const Regression regression) {
  const double exponent = FLOAT64 ? 709 : 88;
  if (regression.factor == 0) return INFINITY;
  const double reach = ratio(exponent, regression.factor);
  if (!regression.is_euclidean) return least + reach;
  const double root = sqrt(least) + reach;
  return root * root * (1 + 8 * DBL_EPSILON);
}

// Of a state, what every row is added to: kept nearer than global memory while rows are met.
typedef struct {
  double sum, squares;
  double first;  // of f w, of the first output
} Sums;

// A row nearer than all before. Whatever stands in a state that has met no row counts for nothing. Returns what is left of
// the weights of the rows before, by which other sums are still to be scaled.
static inline double approach_alone(Sums* sums, __global double* state, const double before, const double least,
                                    const long row, const Regression regression) {
  const double kept = isinf(before) ? 0 : kept_weight(before, least, regression);
  state[STATE_LEAST] = least;
  state[STATE_ROW] = (double)row;
  sums->sum = scaled(sums->sum, kept);
  sums->squares = scaled(sums->squares, kept * kept);
  sums->first = scaled(sums->first, kept);
  return kept;
}
static inline void scale_sums(__global double* state, const long first, const double kept, const Regression regression) {
  for (long i = first; i < state_size(regression); ++i) state[i] = scaled(state[i], kept);
}
static inline void approach(Sums* sums, __global double* state, const double before, const double least,
                            const long row, const Regression regression) {
  const double kept = approach_alone(sums, state, before, least, row, regression);
  scale_sums(state, STATE_OTHERS, kept, regression);
}

// The class that a first target votes for, or -1.
static inline long class_of(const result target, const long classes) {
  if (!(target >= 0) || !(target < (result)classes)) return -1;
  const long number = (long)target;
  return (result)number == target && number < classes ? number : -1;
}

// A row of this weight, with its targets. One rounding for each sum, wherever it is compiled: tiles must not differ.
static inline void add_alone(Sums* sums, const double weight, const result target) {
  sums->sum += weight;
  sums->squares = fma(weight, weight, sums->squares);
  sums->first = fma(weight, (double)target, sums->first);
}
static inline void add_class(__global double* state, const double weight, const result target,
                             const Regression regression) {
  const long number = class_of(target, regression.classes);
  if (number >= 0) state[STATE_SUMS + regression.outputs + number] += weight;
}
static inline void add_row(Sums* sums, __global double* state, const double weight, __global const result* targets,
                           const Regression regression) {
  add_alone(sums, weight, targets[0]);
  for (long r = 1; r < regression.outputs; ++r) {
    state[STATE_SUMS + r] = fma(weight, (double)targets[r], state[STATE_SUMS + r]);
  }
  if (regression.classes != 0) add_class(state, weight, targets[0], regression);
}

static inline void begin_state(__global double* state) {
  state[STATE_LEAST] = INFINITY;
  state[STATE_ROW] = -1;
}
static inline Sums sums_in(__global const double* state) {
  const Sums sums = {state[STATE_SUM], state[STATE_SQUARES], state[STATE_SUMS]};
  return sums;
}
static inline void put_sums(__global double* state, const Sums sums) {
  state[STATE_SUM] = sums.sum;
  state[STATE_SQUARES] = sums.squares;
  state[STATE_SUMS] = sums.first;
}
