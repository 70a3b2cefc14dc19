// patch_match, box_sums of bytes by NVIDIA's tensor cores: patches of 4 x 4 x 4, windows up to 11 along each axis, a
// reference at every place, up to 16 kept. CUDA's program of patch_match_box_bytes.cu in 48 KiB of local memory.
//
//   a warp      multiplies the patches of its 16 references by those of 8 candidates at a time, 64 bytes each, by two
//               products of the tensor cores (patch_match_box_bytes_walk.cl)
//
//   distance = norm of reference + norm of candidate - 2 * sum of products. Sums begin at half the candidate's norm,
//   negative, so that a comparison is all that a pair takes; the bit that is lost is added to those that are kept.
//
// Rows in the middle of the window are looked at twice. The first time only the nearest of each of 32 sets is found:
// the 16th nearest of these is a distance that 16 candidates have. Then what is not farther goes to a list, of which
// each of the four lanes that have the same reference has one. Lists that fill up are sorted and merged with the lane's
// stack by networks of minimum and maximum, which nears the limit, and in the end the four stacks.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_bytes_stack.cl"

#define SETS 8  // of a lane and a reference

// Finds limits that enough candidates are within, of rows in the middle of the window. What is near in one column shall
// not be in the set of what is near in the next, since a plane of candidates may be nearest: so sets take turns.
ALWAYS_INLINE void find_limits(const Unit* unit, __local const Shared* shared, Nearest* nearest) {
  int sets[2][SETS];  // sums: the larger, the nearer
#pragma unroll
  for (int i = 0; i < SETS; ++i) sets[0][i] = sets[1][i] = INT_MIN;
  const int middle = max(WINDOW_Y / 2 - 1, 0) / 2 * 2;
  const int end = min(middle + 2 * COLUMNS_Y, ROWS);
#pragma unroll 1
  for (int y = middle; y < end; y += COLUMNS_Y) {
#pragma unroll 1
    for (int x = 0; x < MOST_X; x += COLUMNS_X) {
      Column column;
      find_column(unit, shared, x, y, &column);
      uint words[4];
      begin_words(&column, 0, words);
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        int sums[4];
        multiply(&column, step, nearest->own, words, sums);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (!is_within(unit, r, step)) continue;
          sets[r][step % SETS] = max(sets[r][step % SETS], max(sums[2 * r], sums[2 * r + 1]));
        }
      }
      int turned[2][SETS];
#pragma unroll
      for (int i = 0; i < 2 * SETS; ++i) turned[i / SETS][i % SETS] = sets[i / SETS][(i + 3) % SETS];
#pragma unroll
      for (int i = 0; i < 2 * SETS; ++i) sets[i / SETS][i % SETS] = turned[i / SETS][i % SETS];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) nearest->limits[r] = max(nearest->limits[r], sum_of_last(sets[r]) - 1);
}

// Looks at two steps. Is the walk left because a list may have no room for two more?
ALWAYS_INLINE int look(const Unit* unit, __local Shared* shared, const Column* column, Nearest* nearest,
                       const int first, const int sums[2][4]) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int step = first + k;
      if (!may_be_within(r, step)) continue;
      if (max(sums[k][2 * r], sums[k][2 * r + 1]) > nearest->limits[r] && is_within(unit, r, step)) {
        uint2 both;
        both.x = (uint)(sums[k][2 * r] * 256 + column->number);
        both.y = (uint)(sums[k][2 * r + 1] * 256 + step);
        *at(shared, nearest->ends[r]) = both;
        nearest->ends[r] += SLOT_BYTES;
      }
    }
  }
  const uint full = (SLOTS - 1) * SLOT_BYTES;
  return is_any(nearest->ends[0] >= nearest->begins[0] + full || nearest->ends[1] >= nearest->begins[1] + full);
}

// Looks at all steps from one on, whose sums are there; while two are looked at the next two are multiplied. Is the walk
// left, at `step`?
#define WALK const Unit *unit, __local Shared *shared, const Column *column, Nearest *nearest, uint words[4], int *step
#define LOOK_FROM(first, next)                                                      \
  ALWAYS_INLINE int look_from_##first(WALK, const int sums[2][4]) {                 \
    if (first >= STEPS) return 0;                                                   \
    int next_sums[2][4];                                                            \
    multiply_two(column, next, nearest->own, words, next_sums);                     \
    if (look(unit, shared, column, nearest, first, sums)) {                         \
      *step = next;                                                                 \
      return 1;                                                                     \
    }                                                                               \
    return look_from_##next(unit, shared, column, nearest, words, step, next_sums); \
  }
ALWAYS_INLINE int look_from_12(WALK, const int sums[2][4]) {
  if (12 >= STEPS) return 0;
  *step = 14;
  return look(unit, shared, column, nearest, 12, sums);
}
LOOK_FROM(10, 12)
LOOK_FROM(8, 10)
LOOK_FROM(6, 8)
LOOK_FROM(4, 6)
LOOK_FROM(2, 4)
LOOK_FROM(0, 2)
#if STEPS > 14
#error "a column has more steps"
#endif

ALWAYS_INLINE int look_at(WALK, const int first) {
  *step = first + 2;
  if (first >= STEPS) return 0;
  int sums[2][4];
  multiply_two(column, first, nearest->own, words, sums);
  return look(unit, shared, column, nearest, first, sums);
}
// Looks at all steps from `step` on.
#define LOOK_AT(first) \
  if (!is_left && from <= first) is_left = look_at(unit, shared, column, nearest, words, step, first);
ALWAYS_INLINE int look_on(const Unit* unit, __local Shared* shared, const Column* column, Nearest* nearest, int* step) {
  uint words[4];
  const int from = *step;
  begin_words(column, from, words);
  int is_left = 0;
  LOOK_AT(2) LOOK_AT(4) LOOK_AT(6) LOOK_AT(8) LOOK_AT(10) LOOK_AT(12)
  return is_left;
}

// Lists what is within the limits, and merges it.
ALWAYS_INLINE void list_nearest(const Unit* unit, __local Shared* shared, Nearest* nearest) {
#pragma unroll 1
  for (int y = 0; y < ROWS; y += COLUMNS_Y) {
#pragma unroll 1
    for (int x = 0; x < MOST_X; x += COLUMNS_X) {
      Column column;
      find_column(unit, shared, x, y, &column);
      uint words[4];
      int sums[2][4];
      int step = 0;
      begin_words(&column, 0, words);
      multiply_two(&column, 0, nearest->own, words, sums);
      // Where a list may fill up the walk is left and gone on with, so that the networks stand once in the program.
      int is_left = look_from_0(unit, shared, &column, nearest, words, &step, sums);
#pragma unroll 1
      while (is_left) {
        merge_lists(shared, nearest);
        is_left = look_on(unit, shared, &column, nearest, &step);
      }
    }
  }
  merge_lists(shared, nearest);
  merge_lanes(nearest);
}

// In groups of ITEMS. It does not say so, since NVIDIA's driver then heeds no bound on registers.
__kernel void patch_match_box_bytes(PATCH_MATCH_OPERANDS, const Match match, const Box box) {
  __local Shared shared __attribute__((aligned(128)));
  Tile tile;
  Unit unit;
  Nearest nearest;
  find_tile(&match, &box, &tile);
  find_unit(&unit);
  load_tile(&match, &tile, volume + volume_first, &shared);
  begin_nearest(&match, &box, &tile, &unit, &shared, &nearest);
  find_limits(&unit, &shared, &nearest);
  list_nearest(&unit, &shared, &nearest);
  write_stacks(&match, &box, &tile, &unit, &shared, &nearest, counts + counts_first, distances + distances_first,
               indices + indices_first);
}
