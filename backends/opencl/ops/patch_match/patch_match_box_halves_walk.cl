// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: a warp's walk over the candidates of its
// references, whose sums tell which of them are listed.
//
//   S = products - half the candidate's norm: the larger, the nearer. First all are looked at for limits: of 64 sets of
//   a reference's candidates the largest S each, of which the 16th is one that 16 candidates have or pass. Then all are
//   looked at again, and those noted that are within the limit. Sums begin lower by it, so that a sign tells.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_halves_products.cl"

#define SETS 16                // of a lane and a reference
#define TURN 7                 // sets from one column to the next
#define NOTED_BITS (2 * STEPS)  // of a column's candidates that a lane has

// A column's, the one of this number along x.
ALWAYS_INLINE void look_for_limits(const Unit* unit, __local Shared* shared, const Walk* walk, const int number,
                                   const int first_y, float sets[2][SETS]) {
  const int first_x = number * COLUMNS_X;
  if (first_x >= MOST_X) return;
  const int x = first_x + 2 * (unit->t % 2);
  const int y = first_y + unit->t / 2;
  const int is_row = is_below(y - along_y(unit->group), WINDOW_Y);
  int is_column[2];
  is_column[0] = is_row && is_below(x - along_x(unit->group), WINDOW_X);
  is_column[1] = is_row && is_below(x + 1 - along_x(unit->group), WINDOW_X);
  __local const float* const norms = norms_of(shared) + (unit->y + y) * NORM_ROW + unit->x + x;
  const Words words = words_at(unit, shared, first_x, first_y);
  float sums[SIDE][4];
#pragma unroll
  for (int plane = 0; plane < STEPS + SIDE - 1; ++plane) {
    if (plane < STEPS) {
      float* const begin = sums[plane % SIDE];
      const float2 both = *(__local const float2*)(norms + plane * NORM_PLANE);
      begin[0] = both.x;
      begin[1] = both.y;
      read_again(begin + 2, begin + 3, norms + plane * NORM_PLANE, both.x);
    }
    multiply_plane(walk, &words, plane, sums);
    if (plane < SIDE - 1) continue;
    const int step = plane - (SIDE - 1);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (!may_be_within(r, step)) continue;
      float* const set = &sets[r][(step + TURN * number) % SETS];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (is_column[i] && is_within(unit, r, step)) *set = fmax(*set, sums[step % SIDE][2 * r + i]);
      }
    }
  }
}

// Finds limits that enough candidates are within.
ALWAYS_INLINE void find_limits(const Unit* unit, __local Shared* shared, Walk* walk) {
  float sets[2][SETS];
#pragma unroll
  for (int i = 0; i < SETS; ++i) sets[0][i] = sets[1][i] = NO_NORM;
#pragma unroll 1
  for (int y = 0; y < ROWS; y += COLUMNS_Y) {
    look_for_limits(unit, shared, walk, 0, y, sets);
    look_for_limits(unit, shared, walk, 1, y, sets);
    look_for_limits(unit, shared, walk, 2, y, sets);
    float turned[2][SETS];
#pragma unroll
    for (int i = 0; i < 2 * SETS; ++i) turned[i / SETS][i % SETS] = sets[i / SETS][(i + 3 * TURN) % SETS];
#pragma unroll
    for (int i = 0; i < 2 * SETS; ++i) sets[i / SETS][i % SETS] = turned[i / SETS][i % SETS];
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float limit = limit_of(walk, r, sum_of_last_of_floats(sets[r]));
    walk->limits[r] = walk->are_there[r] ? limit : BEYOND_ALL;
  }
}

// Bits of a column's candidates, the first of which is this, that are in the reference's window.
ALWAYS_INLINE uint candidates_in(const Unit* unit, const int r, const int x, const int y) {
  if (!is_below(y - along_y(unit->group), WINDOW_Y)) return 0;
  const int before = 2 * along_z(unit->group + 8 * r);
  uint within = ((1u << 2 * WINDOW_Z) - 1) << (NOTED_BITS - before - 2 * WINDOW_Z);
  if (!is_below(x - along_x(unit->group), WINDOW_X)) within &= 0x55555555u;
  if (!is_below(x + 1 - along_x(unit->group), WINDOW_X)) within &= 0xaaaaaaaau;
  return within;
}

ALWAYS_INLINE void note_column(const Unit* unit, __local Shared* shared, Walk* walk, __local uint* noted,
                               const int first_x, const int first_y) {
  const int x = first_x + 2 * (unit->t % 2);
  const int y = first_y + unit->t / 2;
  __local const float* const norms = norms_of(shared) + (unit->y + y) * NORM_ROW + unit->x + x;
  const Words words = words_at(unit, shared, first_x, first_y);
  uint beyond[2] = {0, 0};
  float sums[SIDE][4];
#pragma unroll
  for (int plane = 0; plane < STEPS + SIDE - 1; ++plane) {
    if (plane < STEPS) {
      const float2 both = *(__local const float2*)(norms + plane * NORM_PLANE);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        sums[plane % SIDE][2 * r] = both.x - walk->limits[r];
        sums[plane % SIDE][2 * r + 1] = both.y - walk->limits[r];
      }
    }
    multiply_plane(walk, &words, plane, sums);
    if (plane < SIDE - 1) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      beyond[i / 2] = with_next_bit(beyond[i / 2], as_uint(sums[(plane + 1) % SIDE][i]));
    }
  }
  const int column = first_y / COLUMNS_Y * COLUMNS_ALONG_X + first_x / COLUMNS_X;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const uint within = ~beyond[r] & candidates_in(unit, r, x, y);
    noted[(2 * column + r) * 32] = within;
    walk->columns[r] |= within != 0 ? 1u << column : 0u;
    walk->counts[r] += (int)popcount(within);
  }
}

// Notes what is within the limits.
ALWAYS_INLINE void note(const Unit* unit, __local Shared* shared, Walk* walk) {
  const int item = (int)get_local_id(0);
  __local uint* const noted = (__local uint*)noted_by(shared, item / 32) + item % 32;
  walk->columns[0] = walk->columns[1] = 0;
  walk->counts[0] = walk->counts[1] = 0;
#pragma unroll 1
  for (int y = 0; y < ROWS; y += COLUMNS_Y) {
#pragma unroll 1
    for (int x = 0; x < MOST_X; x += COLUMNS_X) note_column(unit, shared, walk, noted, x, y);
  }
}

// Lists what is noted, by the place of its first voxel in the tile, one reference after the other; after all warps have
// noted theirs. Gives how many there are of both references, and the place behind the last in the warp's list, which does
// not hold it if that is beyond LISTED.
ALWAYS_INLINE void list_noted(const Unit* unit, __local Shared* shared, const Walk* walk, int counts[2], int ends[2]) {
  const int item = (int)get_local_id(0);
  __local const uint* const noted = (__local const uint*)noted_by(shared, item / 32) + item % 32;
  __local ushort* const listed = lists_of(shared);
  int before = 0;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const ListPlaces places = places_in_list(walk->counts[r], &before);
    int at = places.at;
    ends[r] = places.end;
    counts[r] = places.end - places.begin;
    if (ends[r] > LISTED) continue;
    uint columns = walk->columns[r];
    uint within = 0;
    int first = 0;
    while ((within | columns) != 0) {
      if (within == 0) {
        const int column = 31 - (int)clz(columns & -columns);
        columns &= columns - 1;
        within = noted[(2 * column + r) * 32];
        const int y = column / COLUMNS_ALONG_X;
        const int x = column - y * COLUMNS_ALONG_X;
        first = (unit->y + y * COLUMNS_Y + unit->t / 2) * VOXEL_ROW + unit->x + x * COLUMNS_X + 2 * (unit->t % 2);
      }
      const int number = (int)clz(within) - (32 - NOTED_BITS);
      within &= ~(1u << (NOTED_BITS - 1 - number));
      listed[at++] = (ushort)(first + number / 2 * VOXEL_PLANE + number % 2);
    }
  }
  sync_lanes();
}
