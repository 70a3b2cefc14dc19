// kernel_regression by NVIDIA's tensor cores: the four lanes of a quad, in which all of a query's sums lie, and their part of
// a tile of TILE_R training rows, an option.
//
//   rows of a tile     0 1   2 3   4 5   6 7 |  8 9  10 11 ...       A lane numbers its own rows: 0 1 | 2 3 | ...
//   lane of the quad    0     1     2     3  |   0     1
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTILE_R=128
#include "ops/nvidia_warp.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Of a tile, a lane's rows of a query, in blocks of 8 rows of which it has a pair.
#define LANE_ROWS (TILE_R / 4)
#define BLOCKS_R (TILE_R / 8)

ALWAYS_INLINE int least_of_quad(int word) {
  word = min(word, of_lane_1_apart(word));
  return min(word, of_lane_2_apart(word));
}
ALWAYS_INLINE double sum_of_quad(double number) {
  int2 words = as_int2(number);
  number += as_double((int2)(of_lane_1_apart(words.x), of_lane_1_apart(words.y)));
  words = as_int2(number);
  return number + as_double((int2)(of_lane_2_apart(words.x), of_lane_2_apart(words.y)));
}

// The row of the block that a lane knows by this number of its own, tile after tile; none: the greatest.
ALWAYS_INLINE int row_of_number(const int number) {
  const int in_tile = number % LANE_ROWS;
  const int row = number / LANE_ROWS * TILE_R + in_tile / 2 * 8 + (int)get_local_id(0) % 4 * 2 + in_tile % 2;
  return number < 0 ? INT_MAX : row;
}

// The power of 2; 0 where it is smaller than the smallest normal number.
ALWAYS_INLINE float normal_power_of_2(const float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}
