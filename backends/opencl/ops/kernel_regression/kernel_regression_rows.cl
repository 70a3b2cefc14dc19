// kernel_regression: rows, the operands of every launch, the distance of two rows and the weight that it gives.
//
//   type     BYTES FLOAT64   element squared    result       Exponents are differences of distances, in double: what two
//   uint8      1      0      uchar   long       float        large exponents have in common would cost the digits that
//   float32    0      0      float   float      float        matter. Sums are double too.
//   float64    0      1      double  double     double
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0
#include "ops/host_struct.cl"
#include "ops/quotient.cl"
#include "ops/ratio.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#if FLOAT64
typedef double result;
#define SMALLEST_NORMAL DBL_MIN
#else
typedef float result;
#define SMALLEST_NORMAL FLT_MIN
#endif
#if BYTES
typedef uchar element;
typedef long squared;
#define INFINITELY_FAR LONG_MAX
#else
typedef result element;
typedef result squared;
#define INFINITELY_FAR INFINITY
#endif

typedef struct {
  long training_rows, columns, queries;
  long outputs, classes;
  long queries_of_round;
  long chunks, rows_of_chunk;
  double factor;
  int is_euclidean;
  int has_nearest;
  int has_neighbours;
  int is_slab;
} Regression;
SIZE_ON_THE_HOST(Regression, 88);

#define KERNEL_REGRESSION_OPERANDS                                                                                    \
  __global const element *queries, const ulong queries_first, __global const element *training,                       \
      const ulong training_first, __global const result *targets, const ulong targets_first, __global result *values, \
      const ulong values_first, __global result *votes, const ulong votes_first, __global long *nearest_row,          \
      const ulong nearest_row_first, __global squared *nearest_squared, const ulong nearest_squared_first,            \
      __global result *neighbours, const ulong neighbours_first, __global squared *distances,                         \
      const ulong distances_first, __global result *weights, const ulong weights_first

// The sum of squared differences; infinite if one of the rows holds what is not finite, or is too long.
static inline squared distance_of(__global const element* query, __global const element* row, const long columns) {
  squared sum = 0;
#if !BYTES
  squared length = 0;
  squared query_length = 0;
#endif
  for (long j = 0; j < columns; ++j) {
    const squared difference = (squared)query[j] - (squared)row[j];
    sum += difference * difference;
#if !BYTES
    length += row[j] * row[j];
    query_length += query[j] * query[j];
#endif
  }
#if !BYTES
  if (!isfinite(length) || !isfinite(query_length)) return INFINITELY_FAR;
#endif
  return sum;
}

// The weight of a row beside the nearest; 0 where it is smaller than the smallest normal number.
static inline result weight_of(const squared distance, const squared least, const double factor,
                               const int is_euclidean) {
  if (distance == least) return 1;
  if (distance == INFINITELY_FAR) return 0;
  double above = (double)(distance - least);
  if (is_euclidean) above = ratio(above, sqrt((double)distance) + sqrt((double)least));
  const result weight = exp((result)(-factor * above));
  return weight < SMALLEST_NORMAL ? 0 : weight;
}

// Does a first target vote for this class?
static inline int votes_for(const result target, const long class) {
  return target == (result) class;
}
