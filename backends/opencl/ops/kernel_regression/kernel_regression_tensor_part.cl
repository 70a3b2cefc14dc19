// kernel_regression, exact_bytes_tensor and exact_bytes_wgmma: what a lane keeps of a query whose sums lie in the four lanes
// of a quad. Options: EUCLIDEAN; TILE_R, training rows of a tile.
//
// A key is a squared distance less the query's own squared length, which all its keys are short of. Weights are relative
// to the reference, the nearest of the first rows met: those of nearer ones are greater than 1. Only where one could pass
// float's range, the nearest row so far becomes the reference. When the block of rows ends, four lanes' sums of a query
// become one.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=4 -DEUCLIDEAN=0 -DTILE_R=128
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=4 -DEUCLIDEAN=1 -DTILE_R=64
#include "ops/kernel_regression/kernel_regression_quad.cl"
#include "ops/kernel_regression/kernel_regression_state.cl"

// No key of a row that is there passes the first, so that key and number share a word; one that is not there is behind it.
#define MOST_KEY (1 << 26)
#define NO_LENGTH (1 << 28)
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

// To a query that is not there nothing is near.
ALWAYS_INLINE void begin_part(Part* part, const int length, const int is_there) {
  part->sum = part->squares = part->output = 0;
  part->least = is_there ? MOST_KEY : -MOST_KEY;
  part->furthest = INT_MIN;
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

// The block of rows has been met: the quad's state of the query is written, by the lane that `writes`.
ALWAYS_INLINE void end_part(const Meeting* meeting, Part* part, __global double* state, const long block_row,
                            const int writes) {
  refer_to_least(meeting, part);
  const double sum = sum_of_quad(part->sum);
  const double squares = sum_of_quad(part->squares);
  const double output = sum_of_quad(part->output);
  const int row = least_of_quad(row_of_number(part->nearest));
  if (!writes) return;
  state[STATE_LEAST] = distance_of_key(part->least, part->length);
  state[STATE_ROW] = (double)(block_row + row);
  state[STATE_SUM] = sum;
  state[STATE_SQUARES] = squares;
  state[STATE_SUMS] = output;
}
