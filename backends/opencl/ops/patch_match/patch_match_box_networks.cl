// patch_match, box_sums by NVIDIA's tensor cores: networks of minimum and maximum, which sort what a lane has in
// registers. Each pair is written down, since an index that is not known when the program is compiled would take all of
// it to memory.
//
// Batcher's network merges by odd and even places; a bitonic one sorts what rises and then falls.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
#include "ops/patch_match/patch_match_box_unit.cl"

#define PAIRS_OF_16(PAIR)                                                                          \
  PAIR(0, 1) PAIR(2, 3) PAIR(4, 5) PAIR(6, 7) PAIR(8, 9) PAIR(10, 11) PAIR(12, 13) PAIR(14, 15)    \
  PAIR(0, 2) PAIR(1, 3) PAIR(4, 6) PAIR(5, 7) PAIR(8, 10) PAIR(9, 11) PAIR(12, 14) PAIR(13, 15)    \
  PAIR(1, 2) PAIR(5, 6) PAIR(9, 10) PAIR(13, 14)                                                   \
  PAIR(0, 4) PAIR(1, 5) PAIR(2, 6) PAIR(3, 7) PAIR(8, 12) PAIR(9, 13) PAIR(10, 14) PAIR(11, 15)    \
  PAIR(2, 4) PAIR(3, 5) PAIR(10, 12) PAIR(11, 13)                                                  \
  PAIR(1, 2) PAIR(3, 4) PAIR(5, 6) PAIR(9, 10) PAIR(11, 12) PAIR(13, 14)                           \
  PAIR(0, 8) PAIR(1, 9) PAIR(2, 10) PAIR(3, 11) PAIR(4, 12) PAIR(5, 13) PAIR(6, 14) PAIR(7, 15)    \
  PAIR(4, 8) PAIR(5, 9) PAIR(6, 10) PAIR(7, 11)                                                    \
  PAIR(2, 4) PAIR(3, 5) PAIR(6, 8) PAIR(7, 9) PAIR(10, 12) PAIR(11, 13)                            \
  PAIR(1, 2) PAIR(3, 4) PAIR(5, 6) PAIR(7, 8) PAIR(9, 10) PAIR(11, 12) PAIR(13, 14)

#define BITONIC_PAIRS_OF_16(PAIR)                                                                  \
  PAIR(0, 8) PAIR(1, 9) PAIR(2, 10) PAIR(3, 11) PAIR(4, 12) PAIR(5, 13) PAIR(6, 14) PAIR(7, 15)    \
  PAIR(0, 4) PAIR(1, 5) PAIR(2, 6) PAIR(3, 7) PAIR(8, 12) PAIR(9, 13) PAIR(10, 14) PAIR(11, 15)    \
  PAIR(0, 2) PAIR(1, 3) PAIR(4, 6) PAIR(5, 7) PAIR(8, 10) PAIR(9, 11) PAIR(12, 14) PAIR(13, 15)    \
  PAIR(0, 1) PAIR(2, 3) PAIR(4, 5) PAIR(6, 7) PAIR(8, 9) PAIR(10, 11) PAIR(12, 13) PAIR(14, 15)

// Two of an array `keys`.
#define IN_ORDER(i, j)                              \
  {                                                 \
    const uint least = min(keys[i], keys[j]);       \
    keys[j] = max(keys[i], keys[j]);                \
    keys[i] = least;                                \
  }
#define IN_ORDER_OF_INTS(i, j)                      \
  {                                                 \
    const int least = min(keys[i], keys[j]);        \
    keys[j] = max(keys[i], keys[j]);                \
    keys[i] = least;                                \
  }
#define IN_ORDER_OF_FLOATS(i, j)                    \
  {                                                 \
    const float least = fmin(keys[i], keys[j]);     \
    keys[j] = fmax(keys[i], keys[j]);               \
    keys[i] = least;                                \
  }

// The 16th largest of four lanes' 16 sums each.
ALWAYS_INLINE int sum_of_last(const int sums[16]) {
  int mine[16], keys[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) keys[i] = -sums[i];
  PAIRS_OF_16(IN_ORDER_OF_INTS)
#pragma unroll
  for (int i = 0; i < 16; ++i) mine[i] = keys[i];
#pragma unroll
  for (int i = 0; i < 16; ++i) keys[i] = min(mine[i], of_lane_1_apart(mine[15 - i]));
  BITONIC_PAIRS_OF_16(IN_ORDER_OF_INTS)
  int last = INT_MIN;
#pragma unroll
  for (int i = 0; i < 16; ++i) last = max(last, min(keys[i], of_lane_2_apart(keys[15 - i])));
  return -last;
}

// The same of floats.
ALWAYS_INLINE float sum_of_last_of_floats(const float sums[16]) {
  float mine[16], keys[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) keys[i] = -sums[i];
  PAIRS_OF_16(IN_ORDER_OF_FLOATS)
#pragma unroll
  for (int i = 0; i < 16; ++i) mine[i] = keys[i];
#pragma unroll
  for (int i = 0; i < 16; ++i) keys[i] = fmin(mine[i], as_float(of_lane_1_apart(as_int(mine[15 - i]))));
  BITONIC_PAIRS_OF_16(IN_ORDER_OF_FLOATS)
  float last = -INFINITY;
#pragma unroll
  for (int i = 0; i < 16; ++i) last = fmax(last, fmin(keys[i], as_float(of_lane_2_apart(as_int(keys[15 - i])))));
  return -last;
}
