// kernel_regression, fused_split: a lane's queries meet the rows of a tile, one query after the other. Options: EUCLIDEAN;
// TILE_R, training rows of a tile; OTHER_SUMS, 1 where a query has more than one output's.
//
//   sums of products -> keys, in their places: the bits of distances, which order as these do where they are not below 0
//   -> the least of the quad: is it nearer than all before?
//   -> near keys go to the lane's own lists, in private memory, which the first-level cache holds
//   -> weights, four at a time -> the lane's own sums
//
// Weights are relative to the reference, the nearest of the first rows met: those of nearer ones are greater than 1. Only
// where one could pass float's range, the nearest row so far becomes the reference. When the block of rows ends, four
// lanes' sums of a query become one.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DEUCLIDEAN=0 -DTILE_R=128 -DOTHER_SUMS=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DEUCLIDEAN=1 -DTILE_R=128 -DOTHER_SUMS=1
#include "ops/kernel_regression/kernel_regression_quad.cl"
#include "ops/kernel_regression/kernel_regression_split_others.cl"
#include "ops/kernel_regression/kernel_regression_state.cl"

// Of a query, a lane's keys.
#define KEYS LANE_ROWS
// The key of a row that has no part or is not there.
#define FAR_KEY 0x7f800000
// Places of a lane's list, and keys after which it is looked whether there is room for as many again.
#define PLACES 16
#define LISTED_AT_ONCE 8

// What does not change while rows are met.
typedef struct {
  double factor;
  double reach, margin;  // how far rows count beside the nearest, and how far it may be nearer than the reference
  float factor_high, factor_low;  // of 2's exponent, as two floats, whose products with a float are as good as double's
} Meeting;

// A lane's part of a query of its quad. All four lanes have the same least, furthest and reference.
typedef struct {
  double sum, squares, output;
  int least, furthest, reference;  // keys
  int nearest;                     // the lane's first key that is as near as the nearest so far; -1: none
#if OTHER_SUMS
  Others others;
#endif
} Part;

// Of a query, to make keys of its sums: the factor is of a sum that has been scaled back for its row.
typedef struct {
  float length, factor;
} Query;

// What else is known of a tile's rows, where it is put for a lane of a quad; lanes' lie in different banks.
#define KEYS_APART 4
typedef struct {
  float lengths[4][KEYS + KEYS_APART] __attribute__((aligned(16)));
  float factors[4][KEYS + KEYS_APART] __attribute__((aligned(16)));
  float targets[4][KEYS + KEYS_APART];
} Known;

ALWAYS_INLINE Meeting meeting_of(const Regression regression) {
  // exp(0.7 * 88) is far from float's largest number.
  const double margin = 0.7;
  Meeting meeting;
  meeting.factor = regression.factor;
  meeting.reach = regression.factor == 0 ? INFINITY : ratio(88, regression.factor);
  meeting.margin = margin * meeting.reach;
  const double of_2 = fmin(regression.factor * M_LOG2E, (double)FLT_MAX);
  meeting.factor_high = (float)of_2;
  meeting.factor_low = (float)(of_2 - (double)meeting.factor_high);
  return meeting;
}

ALWAYS_INLINE void begin_part(Part* part) {
  part->sum = part->squares = part->output = 0;
  part->least = part->reference = FAR_KEY;
  part->furthest = INT_MIN;
  part->nearest = -1;
}

ALWAYS_INLINE void place_known(__local Known* known, const float length, const float factor, const float target,
                               const int in_tile) {
  const int number = in_tile / 8 * 2 + in_tile % 2, lane = in_tile % 8 / 2;
  known->lengths[lane][number] = length;
  known->factors[lane][number] = factor;
  known->targets[lane][number] = target;
}

// Not below 0. An infinite length makes it infinite: sums and factors are finite.
ALWAYS_INLINE int key_of(const float sum, const float row_factor, const float row_length, const Query query) {
  return max(as_int(fma(sum * row_factor, query.factor, query.length + row_length)), 0);
}
// Keys of the sums of the upper and the lower query of the lane.
ALWAYS_INLINE void make_keys(int keys[KEYS * 2], const float sums[KEYS * 2], __local const float* lengths,
                             __local const float* factors, const Query upper, const Query lower) {
#pragma unroll
  for (int i = 0; i < KEYS * 2; i += 8) {
    const float4 length = vload4(0, lengths + i / 2), factor = vload4(0, factors + i / 2);
    keys[i] = key_of(sums[i], factor.x, length.x, upper);
    keys[i + 1] = key_of(sums[i + 1], factor.y, length.y, upper);
    keys[i + 2] = key_of(sums[i + 2], factor.x, length.x, lower);
    keys[i + 3] = key_of(sums[i + 3], factor.y, length.y, lower);
    keys[i + 4] = key_of(sums[i + 4], factor.z, length.z, upper);
    keys[i + 5] = key_of(sums[i + 5], factor.w, length.w, upper);
    keys[i + 6] = key_of(sums[i + 6], factor.z, length.z, lower);
    keys[i + 7] = key_of(sums[i + 7], factor.w, length.w, lower);
  }
}

// What is further away counts for nothing beside `least`.
ALWAYS_INLINE int beyond(const int least, const double reach) {
#if EUCLIDEAN
  const double root = sqrt((double)as_float(least)) + reach;
  const double distance = root * root * (1 + 8 * DBL_EPSILON);
#else
  const double distance = (double)as_float(least) + reach;
#endif
  return as_int((float)fmin(distance, (double)FLT_MAX));
}

ALWAYS_INLINE void refer_to_least(const Meeting* meeting, Part* part) {
  if (part->reference == part->least) return;
  const double before = (double)as_float(part->reference);
  const double least = (double)as_float(part->least);
  double above = before - least;
#if EUCLIDEAN
  above = ratio(above, sqrt(before) + sqrt(least));
#endif
  const double kept = exp(-meeting->factor * above);
  part->sum = scaled(part->sum, kept);
  part->squares = scaled(scaled(part->squares, kept), kept);
  part->output = scaled(part->output, kept);
#if OTHER_SUMS
  scale_others(&part->others, kept);
#endif
  part->reference = part->least;
}

ALWAYS_INLINE float weight_of_key(const Meeting* meeting, const int key, const int reference) {
#if EUCLIDEAN
  return weight_of(as_float(key), as_float(reference), meeting->factor, 1);
#else
  const float below = as_float(reference) - as_float(key);
  return normal_power_of_2(fma(below, meeting->factor_high, below * meeting->factor_low));
#endif
}

// Of the query whose keys are `place` and place + 1 of every four.
#define KEY_OF(keys, place, i) (keys)[(i) / 2 * 4 + (place) + (i) % 2]

// Takes over the least key of the quad: is a row nearer than all before?
ALWAYS_INLINE void approach_key(const Meeting* meeting, Part* part, const int keys[KEYS * 2], const int place,
                                const int quad, const int tile) {
  if (quad >= part->least) return;
  part->least = quad;
  part->furthest = beyond(quad, meeting->reach);
  part->nearest = -1;
#pragma unroll
  for (int i = KEYS - 1; i >= 0; --i) {
    if (KEY_OF(keys, place, i) == quad) part->nearest = tile * KEYS + i;
  }
  if (part->reference == FAR_KEY) part->reference = quad;
  if (part->reference > beyond(quad, meeting->margin)) refer_to_least(meeting, part);
}

// A row without a weight is none, whatever its target is.
ALWAYS_INLINE void add_weighed(Part* part, const float weight, const float target) {
  const double wide = (double)weight;
  part->sum += wide;
  part->squares = fma(wide, wide, part->squares);
  part->output = fma(wide, (double)(weight == 0 ? 0 : target), part->output);
}

ALWAYS_INLINE void add_listed(const Meeting* meeting, Part* part, const int* listed, const int* numbers, const int count,
                              const int tile, __local const float* targets) {
#pragma unroll 1
  for (int first = 0; is_any(first < count); first += WEIGHED_AT_ONCE) {
    float weights[WEIGHED_AT_ONCE], of_rows[WEIGHED_AT_ONCE];
    int rows[WEIGHED_AT_ONCE];
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
      const int is_listed = first + i < count;
      const int key = is_listed ? listed[first + i] : part->least;
      const float weight = weight_of_key(meeting, key, part->reference);
      weights[i] = is_listed ? weight : 0;
      const int number = is_listed ? numbers[first + i] : 0;
      of_rows[i] = targets[number];
      rows[i] = row_of_number(tile * KEYS + number);
    }
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) add_weighed(part, weights[i], of_rows[i]);
#if OTHER_SUMS
    add_others(&part->others, weights, rows);
#endif
  }
}

// Adds what is near of a query's keys, in their order. That of other sums must not depend on what other queries of the warp
// have listed.
ALWAYS_INLINE void add_near(const Meeting* meeting, Part* part, const int keys[KEYS * 2], const int place, const int tile,
                            __local const float* targets) {
  int listed[PLACES], numbers[PLACES];
  int count = 0;
#pragma unroll
  for (int i = 0; i < KEYS; ++i) {
    if (KEY_OF(keys, place, i) <= part->furthest) {
      listed[count] = KEY_OF(keys, place, i);
      numbers[count] = i;
      ++count;
    }
    if ((i + 1) % LISTED_AT_ONCE != 0) continue;
    if (!OTHER_SUMS && i + 1 < KEYS && !is_any(count > PLACES - LISTED_AT_ONCE)) continue;
    add_listed(meeting, part, listed, numbers, count, tile, targets);
    count = 0;
  }
}

// Both queries of the lane meet the block's tile `tile`. `targets` are those of the lane's rows.
ALWAYS_INLINE void meet_keys(const Meeting* meeting, Part* upper, Part* lower, const int keys[KEYS * 2], const int tile,
                             __local const float* targets) {
  int least[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
#pragma unroll
  for (int i = 0; i < KEYS * 2; ++i) least[i % 4] = min(least[i % 4], keys[i]);
  const int of_upper = least_of_quad(min(least[0], least[1]));
  const int of_lower = least_of_quad(min(least[2], least[3]));
  approach_key(meeting, upper, keys, 0, of_upper, tile);
  approach_key(meeting, lower, keys, 2, of_lower, tile);
  if (is_any(of_upper <= upper->furthest)) add_near(meeting, upper, keys, 0, tile, targets);
  if (is_any(of_lower <= lower->furthest)) add_near(meeting, lower, keys, 2, tile, targets);
}

// The block of rows has been met: the quad's state of the query is written, by the lane that `writes`.
ALWAYS_INLINE void end_part(const Meeting* meeting, Part* part, __global double* state, const long block_row,
                            const int writes) {
  const int has_met = part->reference != FAR_KEY;
  if (has_met) refer_to_least(meeting, part);
  const double sum = sum_of_quad(part->sum);
  const double squares = sum_of_quad(part->squares);
  const double output = sum_of_quad(part->output);
  const int row = least_of_quad(row_of_number(part->nearest));
  if (!writes) return;
  begin_state(state);
  if (has_met) {
    state[STATE_LEAST] = (double)as_float(part->least);
    state[STATE_ROW] = (double)(block_row + row);
  }
  state[STATE_SUM] = sum;
  state[STATE_SQUARES] = squares;
  state[STATE_SUMS] = output;
}
