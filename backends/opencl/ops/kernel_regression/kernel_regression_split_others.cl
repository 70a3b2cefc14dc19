// kernel_regression, fused_split: a query's sums beyond the first output's, in global memory. The four lanes of its quad show
// each other the weights that they have found, and each lane changes every fourth sum: so what is added in which order
// depends on the query and the rows alone.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DTILE_R=128
#include "ops/kernel_regression/kernel_regression_quad.cl"
#include "ops/kernel_regression/kernel_regression_state.cl"

// Weights of a lane that are shown at once, and sums that it changes at once: none waits for another's memory.
#define WEIGHED_AT_ONCE 4
#define OTHERS_AT_ONCE 4

typedef struct {
  __global double* sums;           // those of the query, the lane's first
  __global const float* targets;  // of the block's first row
  int outputs;                     // of these sums; the others are the classes'
  int count;                       // 0 where the query is not there
  int most;                        // what count is of the others
} Others;

ALWAYS_INLINE int lane_of_quad(void) {
  return (int)get_local_id(0) % 4;
}

// `state`: the query's, of the block.
ALWAYS_INLINE Others begin_others(__global double* state, const int is_there, __global const float* targets,
                                  const Regression regression) {
  Others others;
  others.sums = state + STATE_OTHERS + lane_of_quad();
  others.targets = targets;
  others.outputs = (int)regression.outputs - 1;
  others.most = others.outputs + (int)regression.classes;
  others.count = is_there ? others.most : 0;
  for (int i = lane_of_quad(); i < others.count; i += 4) others.sums[i - lane_of_quad()] = 0;
  return others;
}

ALWAYS_INLINE void scale_others(const Others* others, const double kept) {
  for (int i = lane_of_quad(); i < others->count; i += 4) {
    __global double* const sum = others->sums + i - lane_of_quad();
    *sum = scaled(*sum, kept);
  }
}

// What a row of the block adds to a sum beside its weight: a target, or whether it votes for a class.
ALWAYS_INLINE double share_of_row(const Others* others, const int row, const int number) {
  __global const float* const targets = others->targets + (long)row * (others->outputs + 1);
  if (number < others->outputs) return (double)targets[1 + number];
  return votes_for(targets[0], number - others->outputs) ? 1 : 0;
}

// Of the lane's rows of the block, their weights. All lanes of a warp call it.
ALWAYS_INLINE void add_others(const Others* others, const float weights[WEIGHED_AT_ONCE], const int rows[WEIGHED_AT_ONCE]) {
  const int own = lane_of_quad();
  const int first_lane = (int)get_local_id(0) % 32 - own;
#pragma unroll 1
  for (int first = 0; first < others->most; first += 4 * OTHERS_AT_ONCE) {
    double sums[OTHERS_AT_ONCE];
#pragma unroll
    for (int k = 0; k < OTHERS_AT_ONCE; ++k) {
      const int number = first + 4 * k;
      sums[k] = number + own < others->count ? others->sums[number] : 0;
    }
#pragma unroll 1
    for (int other = 0; other < 4; ++other) {
#pragma unroll
      for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
        const float weight = as_float(of_lane(as_int(weights[i]), first_lane + other));
        const int row = of_lane(rows[i], first_lane + other);
#pragma unroll
        for (int k = 0; k < OTHERS_AT_ONCE; ++k) {
          const int number = first + 4 * k + own;
          // Whatever the targets are of a row that weighs nothing.
          if (weight != 0 && number < others->count) {
            sums[k] = fma((double)weight, share_of_row(others, row, number), sums[k]);
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < OTHERS_AT_ONCE; ++k) {
      const int number = first + 4 * k;
      if (number + own < others->count) others->sums[number] = sums[k];
    }
  }
}
