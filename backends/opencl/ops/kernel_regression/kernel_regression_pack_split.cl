// kernel_regression, fused_split: rows as products of halves read them, of the training set once, of queries in each round.
//
//   rows, as given            panels of `width` rows, step by step of 16 columns
//   | row 0     |             | rounded: row 0, row 1, .. | rest: row 0, row 1, .. | rounded: ...
//   | row 1     |   ->
//   | ..        |             beside them the squared lengths of all rows, and then a factor of each
//
// A group packs a row, less the mean of the first training rows. It finds the squared length and the largest number first,
// and reads the row again, from caches, to scale it by a power of two and to split it: x = rounded + rest, two numbers of
// fp16. The factor scales sums back. A row that has no part, or is not there, becomes zeros and a length of FAR; zeros stand
// behind the last column. Every second four rows have the halves of their 32 bytes exchanged, so that eight rows' halves lie
// in different banks.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DGROUP=64
#include "ops/kernel_regression/kernel_regression_packing.cl"
#include "ops/nvidia_halves.cl"

#define STEP_COLUMNS 16
// Pairs of a row in a step; a word holds one.
#define STEP_PAIRS (STEP_COLUMNS / 2)
#define INFINITY_BITS 0x7f800000u

static inline float power_of_two(const int exponent) {
  return as_float((exponent + 127) << 23);
}

// The power by which a row with this largest number, by its bits, comes to [2^14, 2^15): fp16 goes up to 65504. Down to
// 2^-126 alone, so that its inverse is a normal number too: what a row of smaller numbers loses is far below the smallest
// squared distance that is not 0.
static inline int shift_of(const uint largest) {
  if (largest == 0 || largest >= INFINITY_BITS) return 0;
  const int exponent = largest >= 0x00800000u ? (int)(largest >> 23) - 127 : -118 - (int)clz(largest);
  return min(14 - exponent, 126);
}

// A number of a packed row.
static inline float number_at(__global const float* row, __global const float* centre, const long column, const int counts,
                              const long columns) {
  return counts && column < columns ? row[column] - centre[column] : 0;
}

// A group of GROUP work-items a row. A round's factors stand behind its lengths.
__kernel void kernel_regression_pack_split(__global const float* rows, const ulong rows_first, __global const float* centre,
                                           const ulong centre_first, __global float* lengths, const ulong lengths_first,
                                           __global uint* panels, const ulong panels_first, const Packing packing,
                                           const long round_number) {
  __local float sums[GROUP];
  __local float given[GROUP];
  __local uint largest[GROUP];
  const int item = (int)get_local_id(0);
  const long in_round = (long)get_group_id(0);
  const long row = round_number * packing.padded_rows + in_round;
  const int is_there = row < packing.rows;
  const long columns = is_there ? packing.columns : 0;
  rows += rows_first + row * packing.columns;
  centre += centre_first;
  float sum = 0, sum_given = 0;
  uint most = 0;
  for (long j = item; j < columns; j += GROUP) {
    const float as_given = rows[j];
    const float away = as_given - centre[j];
    sum_given += as_given * as_given;
    sum += away * away;
    most = max(most, as_uint(away) & 0x7fffffffu);
  }
  sums[item] = sum;
  given[item] = sum_given;
  largest[item] = most;
#pragma unroll 1
  for (int distance = GROUP / 2; distance > 0; distance /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < distance) {
      sums[item] += sums[item + distance];
      given[item] += given[item + distance];
      largest[item] = max(largest[item], largest[item + distance]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int counts = is_there && isfinite(sums[0]) && isfinite(given[0]);
  const int shift = counts ? shift_of(largest[0]) : 0;
  const float scale = power_of_two(shift);
  if (item == 0) {
    lengths[lengths_first + in_round] = counts ? sums[0] : FAR;
    lengths[lengths_first + packing.padded_rows + in_round] = power_of_two(-shift);
  }
  const long panel = quotient(in_round, packing.width);
  const long in_panel = in_round - panel * packing.width;
  panels += panels_first + panel * packing.width * packing.depth + in_panel * STEP_PAIRS;
  for (long pair = item; pair < packing.depth / 2; pair += GROUP) {
    const float first = number_at(rows, centre, 2 * pair, counts, packing.columns) * scale;
    const float second = number_at(rows, centre, 2 * pair + 1, counts, packing.columns) * scale;
    const uint rounded = pair_of(first, second);
    const uint rest = pair_of(first - first_of(rounded), second - second_of(rounded));
    __global uint* const to =
        panels + pair / STEP_PAIRS * (2 * STEP_PAIRS * packing.width) + (pair % STEP_PAIRS ^ in_panel / 4 % 2 * 4);
    to[0] = rounded;
    to[packing.width * STEP_PAIRS] = rest;
  }
}
