// kernel_regression, exact_bytes_tensor: the queries of a warp's sums meet TILE_R training rows. A query's sums lie in the
// four lanes of a quad, each of which has every fourth pair of rows. Options: EUCLIDEAN.
//
//   sums of 32 rows of a query -> keys, in place -> the least of the quad: is it nearer than all before?
//   keys that are near, with their numbers, go to the lane's own list in local memory -> weights, four at a time -> the
//   lane's own sums. When the block of rows ends, four lanes' sums of a query become one.
//
// A key is a squared distance less the query's own squared length, which all its keys are short of. Weights are relative
// to the reference, the nearest of the first rows met: those of nearer ones are greater than 1. Only where one could pass
// float's range, the nearest row so far becomes the reference. What a lane adds, and in which order, depends on the rows
// alone, not on the shape of the tile: all tiles have as many rows.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=4 -DEUCLIDEAN=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=4 -DEUCLIDEAN=1
#include "ops/kernel_regression/kernel_regression_state.cl"
#include "ops/kernel_regression/kernel_regression_tensor_products.cl"

#define TILE_R 128
// Of a tile, a lane's rows of a query, in blocks of 8 rows of which it has a pair.
#define LANE_ROWS 32
#define BLOCKS_R (TILE_R / 8)
// No key of a row that is there passes the first, so that key and number share a word; one that is not there is behind it.
#define MOST_KEY (1 << 26)
#define NO_LENGTH (1 << 28)
// Places of a lane's list, of which neighbouring lanes' lie side by side; and keys between which it is looked at.
#define PLACES 16
#define LISTED_AT_ONCE 8
#define WEIGHED_AT_ONCE 4
#define NO_REFERENCE INT_MAX

// What does not change while rows are met.
typedef struct {
  double factor;
  double reach;
  float factor_high, factor_low;  // of 2's exponent, as two floats, whose products with a whole number are as good as double's
  int whole_reach, whole_margin;  // how far rows count beside the nearest, and how far it may be nearer than the reference
} Meeting;

// A lane's part of a query of its quad. All four lanes have the same least, furthest and reference.
typedef struct {
  double sum, squares, output;
  int least, furthest, reference;
  int nearest;  // the lane's first key that is as near as the nearest so far; -1: none
  int length;
} Part;

ALWAYS_INLINE Meeting meeting_of(const Regression regression) {
  // exp(0.7 * 88) is far from float's largest number.
  const double margin = 0.7;
  Meeting meeting;
  meeting.factor = regression.factor;
  meeting.reach = regression.factor == 0 ? INFINITY : ratio(88, regression.factor);
  const double of_2 = fmin(regression.factor * M_LOG2E, (double)FLT_MAX);
  meeting.factor_high = (float)of_2;
  meeting.factor_low = (float)(of_2 - (double)meeting.factor_high);
  meeting.whole_reach = (int)fmin(meeting.reach, (double)MOST_KEY);
  meeting.whole_margin = (int)fmin(margin * meeting.reach, (double)MOST_KEY);
  meeting.reach = fmin(meeting.reach, DBL_MAX);
  return meeting;
}

ALWAYS_INLINE void begin_part(Part* part, const int length) {
  part->sum = part->squares = part->output = 0;
  part->least = part->furthest = MOST_KEY;
  part->reference = NO_REFERENCE;
  part->nearest = -1;
  part->length = length;
}

ALWAYS_INLINE double distance_of_key(const int key, const int length) {
  return (double)key + (double)length;
}

// What is further away counts for nothing beside `least`; `whole` and `share`: how far, as they are or of the reach.
ALWAYS_INLINE int beyond(const Meeting* meeting, const int least, const int length, const int whole,
                         const double share) {
#if EUCLIDEAN
  const double root = sqrt(distance_of_key(least, length)) + share * meeting->reach;
  return (int)fmin(root * root * (1 + 8 * DBL_EPSILON) - (double)length, (double)MOST_KEY);
#else
  return min(least + whole, MOST_KEY);
#endif
}

ALWAYS_INLINE void refer_to_least(const Meeting* meeting, Part* part) {
  if (part->reference == part->least) return;
  const double before = distance_of_key(part->reference, part->length);
  const double least = distance_of_key(part->least, part->length);
  double above = before - least;
#if EUCLIDEAN
  above = ratio(above, sqrt(before) + sqrt(least));
#endif
  const double kept = exp(-meeting->factor * above);
  part->sum = scaled(part->sum, kept);
  part->squares = scaled(scaled(part->squares, kept), kept);
  part->output = scaled(part->output, kept);
  part->reference = part->least;
}

ALWAYS_INLINE float weight_of_key(const Meeting* meeting, const int key, const Part* part) {
#if EUCLIDEAN
  if (key == part->reference) return 1;
  const double squared = distance_of_key(key, part->length);
  const double reference = distance_of_key(part->reference, part->length);
  const double above = ratio(squared - reference, sqrt(squared) + sqrt(reference));
  const float weight = exp((float)(-meeting->factor * above));
  return weight < FLT_MIN ? 0 : weight;
#else
  const float below = (float)(part->reference - key);
  return normal_power_of_2(fma(below, meeting->factor_high, below * meeting->factor_low));
#endif
}

// `side`: 0 or 2, where the query's pairs begin in the sums of 16 queries x 8 rows.
#define KEY(i) keys[(i) / 2][side + (i) % 2]

// Takes over the tile's least key, if it is nearer than all before. Returns whether any is near.
ALWAYS_INLINE int approach_least(const Meeting* meeting, Part* part, const int keys[BLOCKS_R][4], const int side,
                                 int least, const int tile) {
  least = min(least, of_lane_1_apart(least));
  least = min(least, of_lane_2_apart(least));
  if (least < part->least) {
    part->least = least;
    part->nearest = -1;
#pragma unroll
    for (int i = LANE_ROWS - 1; i >= 0; --i) part->nearest = KEY(i) == least ? tile * LANE_ROWS + i : part->nearest;
    part->furthest = beyond(meeting, least, part->length, meeting->whole_reach, 1);
    if (part->reference == NO_REFERENCE) part->reference = least;
    if (part->reference > beyond(meeting, least, part->length, meeting->whole_margin, 0.7)) {
      refer_to_least(meeting, part);
    }
  }
  return least <= part->furthest;
}

// Adds the rows of the lane's list. `targets` are those of the lane's rows.
ALWAYS_INLINE void add_listed(const Meeting* meeting, Part* part, __local const int* list, const int count,
                              __local const double* targets) {
#pragma unroll 1
  for (int first = 0; is_any(first < count); first += WEIGHED_AT_ONCE) {
    int words[WEIGHED_AT_ONCE];
    float weights[WEIGHED_AT_ONCE];
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
      words[i] = list[(first + i) * 32];
      const float weight = weight_of_key(meeting, words[i] >> 5, part);
      weights[i] = first + i < count ? weight : 0;
    }
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
      const double weight = (double)weights[i];
      part->sum += weight;
      part->squares = fma(weight, weight, part->squares);
      part->output = fma(weight, weights[i] == 0 ? 0 : targets[words[i] & (LANE_ROWS - 1)], part->output);
    }
  }
}

// Adds the rows that are near.
ALWAYS_INLINE void add_near(const Meeting* meeting, Part* part, const int keys[BLOCKS_R][4], const int side,
                            __local int* list, __local const double* targets) {
  int count = 0;
#pragma unroll
  for (int first = 0; first < LANE_ROWS; first += LISTED_AT_ONCE) {
#pragma unroll
    for (int i = first; i < first + LISTED_AT_ONCE; ++i) {
      if (KEY(i) <= part->furthest) {
        list[count * 32] = KEY(i) * LANE_ROWS + i;
        ++count;
      }
    }
    if (first + LISTED_AT_ONCE < LANE_ROWS && !is_any(count > PLACES - LISTED_AT_ONCE)) continue;
    add_listed(meeting, part, list, count, targets);
    count = 0;
  }
}

// Queries g and g + 8 of 16 meet the block's tile `tile`. `lengths` and `targets` are of the lane's rows.
ALWAYS_INLINE void meet_16(const Meeting* meeting, Part* upper, Part* lower, int keys[BLOCKS_R][4],
                           __local const int* lengths, __local const double* targets, __local int* list,
                           const int tile) {
  int least_of_upper = INT_MAX, least_of_lower = INT_MAX;
#pragma unroll
  for (int j = 0; j < BLOCKS_R; ++j) {
    const int2 two = vload2(0, lengths + j * 8);
    keys[j][0] = two.x - 2 * keys[j][0];
    keys[j][1] = two.y - 2 * keys[j][1];
    keys[j][2] = two.x - 2 * keys[j][2];
    keys[j][3] = two.y - 2 * keys[j][3];
    least_of_upper = min(least_of_upper, min(keys[j][0], keys[j][1]));
    least_of_lower = min(least_of_lower, min(keys[j][2], keys[j][3]));
  }
  const int is_upper_near = approach_least(meeting, upper, keys, 0, least_of_upper, tile);
  const int is_lower_near = approach_least(meeting, lower, keys, 2, least_of_lower, tile);
  if (is_any(is_upper_near)) add_near(meeting, upper, keys, 0, list, targets);
  if (is_any(is_lower_near)) add_near(meeting, lower, keys, 2, list, targets);
}

ALWAYS_INLINE double sum_of_quad(double number) {
  int2 words = as_int2(number);
  number += as_double((int2)(of_lane_1_apart(words.x), of_lane_1_apart(words.y)));
  words = as_int2(number);
  return number + as_double((int2)(of_lane_2_apart(words.x), of_lane_2_apart(words.y)));
}

// The block of rows has been met: the quad's state of the query is written, by the lane that `writes`.
ALWAYS_INLINE void end_part(const Meeting* meeting, Part* part, __global double* state, const long block_row,
                            const int writes) {
  const int column = (int)get_local_id(0) % 4 * 2;
  refer_to_least(meeting, part);
  const double sum = sum_of_quad(part->sum);
  const double squares = sum_of_quad(part->squares);
  const double output = sum_of_quad(part->output);
  const int in_tile = part->nearest % LANE_ROWS;
  int row = part->nearest < 0 ? INT_MAX : part->nearest / LANE_ROWS * TILE_R + in_tile / 2 * 8 + column + in_tile % 2;
  row = min(row, of_lane_1_apart(row));
  row = min(row, of_lane_2_apart(row));
  if (!writes) return;
  state[STATE_LEAST] = distance_of_key(part->least, part->length);
  state[STATE_ROW] = (double)(block_row + row);
  state[STATE_SUM] = sum;
  state[STATE_SQUARES] = squares;
  state[STATE_SUMS] = output;
}
