// patch_match, box_sums of bytes by NVIDIA's tensor cores: a warp's walk over the candidates of its references, whose sums
// tell which of them are listed.
//
//   a column  eight candidates side by side, 4 along x and 2 along y, and those behind them along z
//   a step    along z: of the 16 words of a candidate's patch lane t of four holds those of its row t, in two pairs of
//             planes, of which the second one is the first one two steps on.
//
//   S = products - half the candidate's norm, rounded down: the larger, the nearer. First candidates are looked at for
//   limits: of 64 sets of a reference's candidates the largest S each, of which the 16th is one that 16 candidates have or
//   pass. Then all are looked at, and those noted that have it or pass it. Sums begin lower by it, so that a sign tells.
//
//   a note    a word of a column and a reference that has any in it, a bit each from the highest on:
//             | candidates along z that its window holds, two beside each other along x | row | along x | which of two |
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_bytes_tile.cl"

#define SETS 16  // of a lane and a reference
#define LIMIT_ROWS 8  // that limits are found of
#define LIMIT_Y (ROWS > LIMIT_ROWS ? (ROWS - LIMIT_ROWS) / 4 * 2 : 0)
#define LIMIT_END_Y (LIMIT_Y + LIMIT_ROWS < ROWS ? LIMIT_Y + LIMIT_ROWS : ROWS)
#define TURN 7   // sets from one column to the next
#define COLUMNS_ALONG_X ((MOST_X - 1) / COLUMNS_X + 1)
#define BEYOND_ALL (1 << 28)    // a limit that no sum reaches
#define ALONG_X_SHIFT 1         // of a note
#define ROW_SHIFT 3
#define CANDIDATES (~0x3fu)

// A lane's two references, r = 0 and 1, which differ by 2 along z.
typedef struct {
  uint own[2][4];  // words of both, two planes each
  int limits[2];   // the least sums that are within
  int counts[2];   // of what is noted
  int noted;       // words
} Walk;

// Where a reference stands in a plane, and along z.
ALWAYS_INLINE int column_of(const Unit* unit, const int number) {
  return (WINDOW_Y / 2 + unit->y + along_y(number)) * ROW + WINDOW_X / 2 + unit->x + along_x(number);
}
ALWAYS_INLINE int plane_of(const int number) {
  return WINDOW_Z / 2 + along_z(number);
}

ALWAYS_INLINE void begin_walk(const Unit* unit, __local const Shared* shared, Walk* walk) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int number = unit->group + 8 * r;
    __local const uint* const from =
        shared->words + plane_of(number) * WORD_PLANE + column_of(unit, number) + unit->t * ROW;
#pragma unroll
    for (int k = 0; k < 4; ++k) walk->own[k / 2][r + k % 2 * 2] = from[k * WORD_PLANE];
  }
}

// The lane's word of its candidate.
ALWAYS_INLINE __local const uint* words_at(const Unit* unit, __local const Shared* shared, const int x, const int y) {
  return shared->words + (unit->y + y + unit->group / COLUMNS_X + unit->t) * ROW + unit->x + x +
         unit->group % COLUMNS_X;
}
// Two planes' words. Each word is read twice, with the one before and with the one behind it, so that none is copied.
ALWAYS_INLINE void read_pair(__local const uint* words, const int plane, uint pairs[4][2]) {
  __local const volatile uint* const from = words + plane * WORD_PLANE;
  pairs[plane % 4][0] = from[0];
  pairs[plane % 4][1] = from[WORD_PLANE];
}
ALWAYS_INLINE void begin_words(__local const uint* words, uint pairs[4][2]) {
  read_pair(words, 0, pairs);
  read_pair(words, 1, pairs);
}
ALWAYS_INLINE void multiply(__local const uint* words, const int step, const uint own[2][4], uint pairs[4][2],
                            int sums[4]) {
  read_pair(words, step + 2, pairs);
  multiply_16x8(sums, own[0], pairs[step % 4][0], pairs[step % 4][1]);
  multiply_16x8(sums, own[1], pairs[(step + 2) % 4][0], pairs[(step + 2) % 4][1]);
}

// Of the candidate x places on from the lane's first, if there is one for its reference.
ALWAYS_INLINE __local const int* norms_of(const Unit* unit, __local const Shared* shared, const int x, const int y,
                                          const int i) {
  const int is_there = is_below(y - along_y(unit->group), WINDOW_Y) &&
                       is_below(x + i - along_x(unit->group), WINDOW_X);
  return shared->norms + (is_there ? (unit->y + y) * ROW + unit->x + x : NO_CANDIDATE) + i;
}
// A column's, the one of this number along x.
ALWAYS_INLINE void look_for_limits(const Unit* unit, __local const Shared* shared, const Walk* walk, const int number,
                                   const int first_y, int sets[2][SETS]) {
  const int first_x = number * COLUMNS_X;
  if (first_x >= MOST_X) return;
  const int x = first_x + 2 * (unit->t % 2);
  const int y = first_y + unit->t / 2;
  __local const int* const first = norms_of(unit, shared, x, y, 0);
  __local const int* const second = norms_of(unit, shared, x, y, 1);
  __local const uint* const words = words_at(unit, shared, first_x, first_y);
  uint pairs[4][2];
  begin_words(words, pairs);
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    int sums[4];
    sums[0] = sums[2] = first[step * NORM_PLANE];
    sums[1] = sums[3] = second[step * NORM_PLANE];
    multiply(words, step, walk->own, pairs, sums);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (!may_be_within(r, step)) continue;
      int* const set = &sets[r][(step + TURN * number) % SETS];
      const int found = max(max(*set, sums[2 * r]), sums[2 * r + 1]);
      *set = is_within(unit, r, step) ? found : *set;
    }
  }
}
// Finds limits that enough candidates are within, of rows in the middle of the window. What is near in one column shall
// not be in the set of what is near in the next, since a plane of candidates may be nearest: so sets take turns.
ALWAYS_INLINE void find_limits(const Match* match, const Box* box, const Tile* tile, const Unit* unit,
                               __local const Shared* shared, Walk* walk) {
  int sets[2][SETS];  // sums: the larger, the nearer
#pragma unroll
  for (int i = 0; i < SETS; ++i) sets[0][i] = sets[1][i] = NO_NORM;
#pragma unroll 1
  for (int y = LIMIT_Y; y < LIMIT_END_Y; y += COLUMNS_Y) {
    look_for_limits(unit, shared, walk, 0, y, sets);
    look_for_limits(unit, shared, walk, 1, y, sets);
    look_for_limits(unit, shared, walk, 2, y, sets);
    int turned[2][SETS];
#pragma unroll
    for (int i = 0; i < 2 * SETS; ++i) {
      turned[i / SETS][i % SETS] = sets[i / SETS][(i + COLUMNS_ALONG_X * TURN) % SETS];
    }
#pragma unroll
    for (int i = 0; i < 2 * SETS; ++i) sets[i / SETS][i % SETS] = turned[i / SETS][i % SETS];
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int number = unit->group + 8 * r;
    const int norm = -2 * shared->norms[plane_of(number) * NORM_PLANE + column_of(unit, number)];
    // Whose distance is not larger than what the threshold keeps has this sum or a larger one: norms are halved.
    const int kept = (norm - box->most_distance + 1) >> 1;
    const int found = sum_of_last(sets[r]);  // all lanes call it
    const int is_there = is_reference(match, tile, unit->x + along_x(number), unit->y + along_y(number), along_z(number));
    walk->limits[r] = is_there ? max(found, kept) : BEYOND_ALL;
  }
}

ALWAYS_INLINE void note_column(const Unit* unit, __local Shared* shared, Walk* walk, __local uint* notes,
                               const int first_x, const int first_y, const uint id) {
  const int x = first_x + 2 * (unit->t % 2);
  const int y = first_y + unit->t / 2;
  __local const int* const norms = shared->norms + (unit->y + y) * ROW + unit->x + x;
  __local const uint* const words = words_at(unit, shared, first_x, first_y);
  uint pairs[4][2];
  uint beyond[2] = {0, 0};
  begin_words(words, pairs);
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const int2 both = *(__local const int2*)(norms + step * NORM_PLANE);
    int sums[4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      sums[2 * r] = both.x - walk->limits[r];
      sums[2 * r + 1] = both.y - walk->limits[r];
    }
    multiply(words, step, walk->own, pairs, sums);
#pragma unroll
    for (int i = 0; i < 4; ++i) beyond[i / 2] = with_next_bit(beyond[i / 2], (uint)sums[i]);
  }
  uint candidates = is_below(y - along_y(unit->group), WINDOW_Y) ? ~(~0u >> 2 * WINDOW_Z) : 0;
  if (!is_below(x - along_x(unit->group), WINDOW_X)) candidates &= 0x55555555u;
  if (!is_below(x + 1 - along_x(unit->group), WINDOW_X)) candidates &= 0xaaaaaaaau;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int before = 32 - 2 * STEPS + 2 * along_z(unit->group + 8 * r);
    const uint within = ~(beyond[r] << before) & candidates;
    if (within == 0) continue;
    walk->counts[r] += (int)popcount(within);
    if (walk->noted < NOTES) notes[32 * walk->noted] = within | id | (uint)r;
    ++walk->noted;
  }
}
// Notes what is within the limits.
ALWAYS_INLINE void note(const Unit* unit, __local Shared* shared, Walk* walk) {
  const int item = (int)get_local_id(0);
  __local uint* const notes = shared->notes[item / 32] + item % 32;
  walk->noted = walk->counts[0] = walk->counts[1] = 0;
#pragma unroll 1
  for (int y = 0; y < ROWS; y += COLUMNS_Y) {
#pragma unroll 1
    for (int x = 0; x < MOST_X; x += COLUMNS_X) {
      const uint id = (uint)(y / COLUMNS_Y << ROW_SHIFT | x / COLUMNS_X << ALONG_X_SHIFT);
      note_column(unit, shared, walk, notes, x, y, id);
    }
  }
}

// Lists what is noted by its number, one reference after the other. Gives how many there are of both references, and the
// place behind the last in the warp's list, which does not hold it if that is beyond LISTED.
ALWAYS_INLINE void list_noted(const Unit* unit, __local Shared* shared, const Walk* walk, int counts[2], int ends[2]) {
  const int item = (int)get_local_id(0);
  __local const uint* const notes = shared->notes[item / 32] + item % 32;
  __local ushort* const listed = shared->lists[item / 32];
  const uint without = which_are(walk->noted > NOTES) >> (4 * unit->group) & 15;
  int at[2];
  int before = 0;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const ListPlaces places = places_in_list(walk->counts[r], &before);
    at[r] = places.at;
    ends[r] = places.end;
    counts[r] = places.end - places.begin;
    if (without != 0) ends[r] = LISTED + 1;
  }
  const int most = min(walk->noted, NOTES);
  uint within = 0;
  int first = 0;
  int which = 0;
  int note = 0;
  while (within != 0 || note < most) {
    if (within == 0) {
      const uint word = notes[32 * note++];
      which = (int)(word & 1);
      const int y = unit->y + unit->t / 2 + (int)(word >> ROW_SHIFT & 7) * COLUMNS_Y;
      const int x = unit->x + 2 * (unit->t % 2) + (int)(word >> ALONG_X_SHIFT & 3) * COLUMNS_X;
      first = (unit->group / 4 + 2 * which) << PLANE_BITS | (y * ROW + x);
      within = word & CANDIDATES;
    }
    const int number = (int)clz(within);
    within &= ~(0x80000000u >> number);
    const int place = which == 0 ? at[0]++ : at[1]++;
    if (place < LISTED) listed[place] = (ushort)(first + (number / 2 << PLANE_BITS) + number % 2);
  }
  sync_lanes();
}
