// patch_match, box_sums: one group a tile of references, which look at one offset of the window after the other.
//
//     differences squared,        local: rows           local: planes        distances
//     summed along x              +-----------+         +-----------+        +------+
//     +---------------+           | rows of a |  sums   | rows of   |  sums  | line |  -> those below the limit of
//     | LANES places  |   ---->   | few       |  ---->  | references|  ----> |      |     their reference go into its
//     +---------------+           | planes    | along y | all planes| along z+------+     keys
//                                 +-----------+         +-----------+
//
// Neighbours share their sums along x, and what is summed along y: of a patch of 4 x 4 x 4 a distance takes about two
// rows of squares and 6 additions, not 64 of both. Each sum has its terms in the order of the definition, so that floats
// get the same bits. Along x a tile has places, one voxel apart, of which some may hold no reference; along y and z it
// has references.
//
// Voxels come through the caches: each is read once for an offset by every piece of a line that it is in. The keys of a
// reference stand where its indices will, sorted; offsets come in the order of candidates, so that most of them are no
// nearer than the last key after the first hundred. On GPUs 256 work-items share the lines of a tile and all its planes
// are summed between two barriers; on processors one work-item has a tile, plane by plane.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DLANES=16 -DGROUP=1 -DPATCH=4
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DLANES=4 -DGROUP=64 -DPATCH=0
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DLANES=8 -DGROUP=256 -DPATCH=0
#include "ops/patch_match/patch_match_box_tile.cl"

// Squares of a row of the patch at LANES places from x on; `shift` leads to their candidates. Where they would pass the
// row's ends they are found one by one: places whose candidates do not exist get a sum that nobody uses.
static inline sums row_sums(const Match* match, __global const element* row, __global const element* candidates,
                            const long x, const long shift) {
  const long reach = LANES + PATCH_OF(0) - 1;
  sums sum = (sums)(0);
  if (x + min(shift, 0L) >= 0 && x + max(shift, 0L) + reach <= match->size[0]) {
#pragma unroll
    for (long i = 0; i < PATCH_OF(0); ++i) sum += squares_of(LOAD(0, row + x + i), LOAD(0, candidates + x + shift + i));
    return sum;
  }
  element here[LANES], there[LANES];
  const long last = match->size[0] - 1;
#pragma unroll 1
  for (long i = 0; i < PATCH_OF(0); ++i) {
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) {
      here[lane] = row[min(x + i + lane, last)];
      there[lane] = candidates[clamp(x + shift + i + lane, 0L, last)];
    }
    sum += squares_of(LOAD(0, here), LOAD(0, there));
  }
  return sum;
}

// Lines of sums along x, of `planes` planes from `first_plane` on.
static inline void sum_rows(const Match* match, const Tiles* tiles, const Part* part, __global const element* volume,
                            const long* offset, const int first_plane, const int planes, __local squared* rows) {
  const int item = (int)get_local_id(0);
  for (int line = item / ITEMS_OF_LINE; line < planes * part->rows; line += LINES_AT_ONCE) {
    const int plane = small_quotient(line, part->rows);
    const long y = part->place[1] + line - plane * part->rows;
    const long z = part->place[2] + first_plane + plane;
    const long there_y = y + offset[1];
    const long there_z = z + offset[2];
    if (there_y < 0 || there_y >= match->size[1] || there_z < 0 || there_z >= match->size[2]) continue;
    __global const element* const row = volume + (z * match->size[1] + y) * match->size[0];
    __global const element* const candidates = volume + (there_z * match->size[1] + there_y) * match->size[0];
    for (int x = item % ITEMS_OF_LINE * LANES; x < part->references[0]; x += ITEMS_OF_LINE * LANES) {
      *(__local sums*)(rows + line * tiles->columns + x) =
          row_sums(match, row, candidates, part->place[0] + x, offset[0]);
    }
  }
}

// The sum of so many lines, `apart` one from the next.
static inline sums sum_lines(__local const squared* from, const long count, const int apart) {
  sums sum = *(__local const sums*)from;
#pragma unroll
  for (long i = 1; i < count; ++i) sum += *(__local const sums*)(from + i * apart);
  return sum;
}

static inline void sum_planes(const Match* match, const Tiles* tiles, const Part* part, __local const squared* rows,
                              const int first_plane, const int planes, __local squared* sums_of_planes) {
  const int item = (int)get_local_id(0);
  for (int line = item / ITEMS_OF_LINE; line < planes * part->references[1]; line += LINES_AT_ONCE) {
    const int plane = small_quotient(line, part->references[1]);
    const int reference = line - plane * part->references[1];
    const int row = plane * part->rows + row_of_reference(match, part, 1, reference);
    const int to = (first_plane + plane) * part->references[1] + reference;
    for (int x = item % ITEMS_OF_LINE * LANES; x < part->references[0]; x += ITEMS_OF_LINE * LANES) {
      *(__local sums*)(sums_of_planes + to * tiles->columns + x) =
          sum_lines(rows + row * tiles->columns + x, PATCH_OF(1), tiles->columns);
    }
  }
}

// Puts a key among the sorted ones of a reference; where all places are taken it is nearer than the last of them.
static inline int insert(__global ulong* keys, const int count, const int places, const ulong key) {
  int place = min(count, places - 1);
  for (; place > 0 && key < keys[place - 1]; --place) keys[place] = keys[place - 1];
  keys[place] = key;
  return min(count + 1, places);
}

// Offers the candidates of this number to the tile's references, where they exist.
static inline void offer(const Match* match, const Tiles* tiles, const Part* part, const long* offset,
                         const ulong number, __local const squared* planes, __local squared* limits,
                         __global int* counts, __global ulong* keys) {
  const int item = (int)get_local_id(0);
  const int most = (int)match->max_patches;
  const ulong number_bits = (ulong)match->number_bits;
  const int first_x = (int)clamp(-offset[0] - part->place[0], 0L, (long)part->references[0]);
  const int end_x = (int)clamp(match->places[0] - offset[0] - part->place[0], 0L, (long)part->references[0]);
  for (int line = item / ITEMS_OF_LINE; line < part->references[1] * part->references[2]; line += LINES_AT_ONCE) {
    const int z = small_quotient(line, part->references[1]);
    const int y = line - z * part->references[1];
    const int plane = row_of_reference(match, part, 2, z);
    const long there_z = part->place[2] + plane + offset[2];
    const long there_y = part->place[1] + row_of_reference(match, part, 1, y) + offset[1];
    if (there_z < 0 || there_z >= match->places[2] || there_y < 0 || there_y >= match->places[1]) continue;
    __local const squared* const from = planes + (plane * part->references[1] + y) * tiles->columns;
    for (int x = item % ITEMS_OF_LINE * LANES; x < end_x; x += ITEMS_OF_LINE * LANES) {
      const sums sum = sum_lines(from + x, PATCH_OF(2), part->references[1] * tiles->columns);
      __local squared* const limit = limits + line * tiles->columns + x;
      if (!is_any(sum < *(__local const sums*)limit)) continue;
      squared found[LANES];
      STORE(sum, 0, found);
#pragma unroll 1
      for (int i = max(first_x - x, 0); i < min(LANES, end_x - x); ++i) {
        if (!(found[i] < limit[i])) continue;
        const long reference = number_of_reference(match, part, reference_at(match, part->place[0] + x + i), y, z);
        __global ulong* const stack = keys + reference * most;
        const int count = insert(stack, counts[reference], most, key_of(found[i], number, number_bits));
        counts[reference] = count;
        if (count == most) limit[i] = distance_in(stack[most - 1], number_bits);
      }
    }
  }
}

__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void patch_match_box_sums(PATCH_MATCH_OPERANDS,
                                                                                      const Match match,
                                                                                      const Tiles tiles,
                                                                                      __local sums* lines) {
  // The parameter's type says how it is aligned: of single numbers NVIDIA aligns it to one, and vectors fault.
  __local squared* const rows = (__local squared*)lines;
  __local squared* const planes = rows + tiles.planes_at_once * tiles.rows * tiles.columns;
  __local squared* const limits = planes + tiles.planes * tiles.references[0] * tiles.columns;
  __global ulong* const keys = (__global ulong*)(indices + indices_first);
  volume += volume_first;
  counts += counts_first;
  Part part;
  find_part(&match, &tiles, (long)get_group_id(0), &part);
  empty_stacks(&match, &tiles, &part, limits, counts);
  const long candidates = match.window[0] * match.window[1] * match.window[2];
  long offset[3] = {-(match.window[0] / 2), -(match.window[1] / 2), -(match.window[2] / 2)};
#pragma unroll 1
  for (long number = 0; number < candidates; ++number) {
    const int end = is_in_reach(&match, &part, offset) ? part.planes : 0;
#pragma unroll 1
    for (int plane = 0; plane < end; plane += tiles.planes_at_once) {
      const int count = min(tiles.planes_at_once, end - plane);
      sum_rows(&match, &tiles, &part, volume, offset, plane, count, rows);
      barrier(CLK_LOCAL_MEM_FENCE);
      sum_planes(&match, &tiles, &part, rows, plane, count, planes);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    offer(&match, &tiles, &part, offset, (ulong)number, planes, limits, counts, keys);
    int axis = 0;
    while (axis < 2 && offset[axis] + 1 == match.window[axis] - match.window[axis] / 2) {
      offset[axis] = -(match.window[axis] / 2);
      ++axis;
    }
    ++offset[axis];
  }
  write_stacks(&match, &part, counts, distances + distances_first, keys);
}
