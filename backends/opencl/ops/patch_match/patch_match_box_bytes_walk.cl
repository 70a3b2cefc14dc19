// patch_match, box_sums of bytes by NVIDIA's tensor cores: a warp's walk over the candidates of its references, and their
// products.
//
//   a column  eight candidates side by side, 4 along x and 2 along y, and those behind them along z
//   a step    along z: of the 16 words of a candidate's patch four are new, one for each lane, since lane t of four
//             holds those of its row t. The word that is new takes the place of the oldest, and the references' words,
//             which stay in registers, are there in all four turns.
//
//             step 0   | z0 | z1 | z2 | z3 |
//             step 1   | z4 | z1 | z2 | z3 |
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/nvidia_bytes.cl"
#include "ops/patch_match/patch_match_box_bytes_tile.cl"

typedef struct {
  __local const uint* words;     // the lane's word of its candidate
  __local const int* norms[2];   // of the two candidates whose sums the lane gets
  int number;                    // of the first of these: its column
} Column;

ALWAYS_INLINE __local const int* norms_of(const Unit* unit, __local const Shared* shared, const int x, const int y) {
  const int is_candidate = is_below(y - along_y(unit->group), WINDOW_Y) &&
                           is_below(x - along_x(unit->group), WINDOW_X);
  return shared->norms + (is_candidate ? (unit->y + y) * ROW + unit->x + x : NO_CANDIDATE);
}
ALWAYS_INLINE void find_column(const Unit* unit, __local const Shared* shared, const int first_x, const int first_y,
                               Column* column) {
  const int x = first_x + 2 * (unit->t % 2);
  const int y = first_y + unit->t / 2;
  column->words = shared->words + (unit->y + first_y + unit->group / COLUMNS_X + unit->t) * ROW + unit->x + first_x +
                  unit->group % COLUMNS_X;
  column->norms[0] = norms_of(unit, shared, x, y);
  column->norms[1] = norms_of(unit, shared, x + 1, y);
  column->number = (unit->y + y) * ROW + unit->x + x;
}

// The lane's words of a column's candidates from an even step on, but for the one that the step brings.
ALWAYS_INLINE void begin_words(const Column* column, const int step, uint at[4]) {
  __local const uint* const words = column->words + step * WORD_PLANE;
  const uint first = words[0];
  const uint third = words[2 * WORD_PLANE];
  at[0] = step % 4 == 0 ? first : third;
  at[1] = at[3] = words[WORD_PLANE];
  at[2] = step % 4 == 0 ? third : first;
}
ALWAYS_INLINE void multiply(const Column* column, const int step, const uint own[4][4], uint at[4], int sums[4]) {
  at[(step + 3) % 4] = column->words[(step + 3) * WORD_PLANE];
  sums[0] = sums[2] = column->norms[0][step * NORM_PLANE];
  sums[1] = sums[3] = column->norms[1][step * NORM_PLANE];
  multiply_16x8(sums, own[(4 - step % 4) % 4], at[0], at[1]);
  multiply_16x8(sums, own[(6 - step % 4) % 4], at[2], at[3]);
}
ALWAYS_INLINE void multiply_two(const Column* column, const int step, const uint own[4][4], uint at[4],
                                int sums[2][4]) {
  multiply(column, step, own, at, sums[0]);
  multiply(column, step + 1, own, at, sums[1]);
}
