// patch_match, box_sums: a group's tile of references, and their stacks before the first offset and after the last.
//
//   line 0   | p p p p | p p p p |      Along x a tile has places, one voxel apart, of which some may hold no reference;
//   line 1   | p p p p | p p p p |      along y and z it has references: a line of places for each pair of them. A
//   ...       item 0    item 1          work-item owns LANES places of a line, and of every LINES_AT_ONCE-th behind it.
//
// A reference's keys stand where its indices will, and how many in its count: no other work-item reads or writes them.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DLANES=16 -DGROUP=1 -DPATCH=4
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DLANES=4 -DGROUP=64 -DPATCH=0
#include "ops/patch_match/patch_match_vectors.cl"

// How the host cut references into tiles.
typedef struct {
  long tiles[2];       // along x and y
  int columns;         // places of a line in local memory, whole vectors
  int references[2];   // of the largest tile along y and z
  int rows;            // of voxels that its references of one plane reach
  int planes;          // that they reach
  int planes_at_once;  // of which sums along x are kept
} Tiles;
SIZE_ON_THE_HOST(Tiles, 40);

// One tile: of each axis, x first.
typedef struct {
  long place[3];      // of its first reference
  long number[3];     // of that reference
  int references[3];  // along x: places
  int rows;           // of voxels that it reaches
  int planes;
} Part;

// Work-items of a group that stand in a line, and lines that are taken at once.
#if GROUP < 8
#define ITEMS_OF_LINE 1
#else
#define ITEMS_OF_LINE 8
#endif
#define LINES_AT_ONCE (GROUP / ITEMS_OF_LINE)

#if PATCH > 0
#define PATCH_OF(axis) PATCH
#else
#define PATCH_OF(axis) match->patch[axis]
#endif

static inline long place_of(const Match* match, const int axis, const long number) {
  return min(match->start[axis] + number * match->step[axis], match->last_place[axis]);
}

static inline void find_part(const Match* match, const Tiles* tiles, const long group, Part* part) {
  const long line = quotient(group, tiles->tiles[0]);
  const long plane = quotient(line, tiles->tiles[1]);
  part->number[0] = 0;
  part->place[0] = place_of(match, 0, 0) + (group - line * tiles->tiles[0]) * tiles->columns;
  part->references[0] =
      (int)min((long)tiles->columns, place_of(match, 0, match->references[0] - 1) - part->place[0] + 1);
  const long first[2] = {(line - plane * tiles->tiles[1]) * tiles->references[0], plane * tiles->references[1]};
  for (int i = 0; i < 2; ++i) {
    const int axis = i + 1;
    part->number[axis] = first[i];
    part->place[axis] = place_of(match, axis, first[i]);
    part->references[axis] = (int)min((long)tiles->references[i], match->references[axis] - first[i]);
  }
  const long last_row = place_of(match, 1, part->number[1] + part->references[1] - 1);
  const long last_plane = place_of(match, 2, part->number[2] + part->references[2] - 1);
  part->rows = (int)(last_row - part->place[1] + PATCH_OF(1));
  part->planes = (int)(last_plane - part->place[2] + PATCH_OF(2));
}

// Where a reference of the tile stands along y or z, from the tile's first.
static inline int row_of_reference(const Match* match, const Part* part, const int axis, const int number) {
  return (int)(place_of(match, axis, part->number[axis] + number) - part->place[axis]);
}

// The number of the reference at this place along x; -1: there is none.
static inline long reference_at(const Match* match, const long place) {
  const long last = match->references[0] - 1;
  if (place >= place_of(match, 0, last)) return place == place_of(match, 0, last) ? last : -1;
  const long number = quotient(place - match->start[0], match->step[0]);
  return match->start[0] + number * match->step[0] == place ? number : -1;
}

static inline long number_of_reference(const Match* match, const Part* part, const long x, const int y, const int z) {
  return ((part->number[2] + z) * match->references[1] + part->number[1] + y) * match->references[0] + x;
}

// Empties the stacks of the tile's references. Where there is none, nothing is below the limit.
static inline void empty_stacks(const Match* match, const Tiles* tiles, const Part* part, __local squared* limits,
                                __global int* counts) {
  const int item = (int)get_local_id(0);
  const squared unkept = first_unkept(match);
  for (int line = item / ITEMS_OF_LINE; line < part->references[1] * part->references[2]; line += LINES_AT_ONCE) {
    const int z = small_quotient(line, part->references[1]);
    const int y = line - z * part->references[1];
    for (int x = item % ITEMS_OF_LINE * LANES; x < tiles->columns; x += ITEMS_OF_LINE * LANES) {
#pragma unroll 1
      for (int i = x; i < x + LANES; ++i) {
        const long along_x = i < part->references[0] ? reference_at(match, part->place[0] + i) : -1;
        limits[line * tiles->columns + i] = along_x < 0 ? (squared)0 : unkept;
        if (along_x >= 0) counts[number_of_reference(match, part, along_x, y, z)] = 0;
      }
    }
  }
}

// Writes the stack of the reference at this place: its keys become distances and indices.
static inline void write_stack(const Match* match, const long* place, const long reference, const int count,
                               __global stored* distances, __global ulong* keys) {
  const ulong number_bits = (ulong)match->number_bits;
#pragma unroll 1
  for (int i = 0; i < match->max_patches; ++i) {
    const long at = reference * match->max_patches + i;
    const int is_kept = i < count;
    const ulong key = is_kept ? keys[at] : 0;
    const long number = (long)(key & (((ulong)1 << number_bits) - 1));
    const long row = quotient(number, match->window[0]);
    const long plane = quotient(row, match->window[1]);
    const long x = place[0] - match->window[0] / 2 + number - row * match->window[0];
    const long y = place[1] - match->window[1] / 2 + row - plane * match->window[1];
    const long z = place[2] - match->window[2] / 2 + plane;
    distances[at] = is_kept ? (stored)distance_in(key, number_bits) : EMPTY_DISTANCE;
    keys[at] = is_kept ? (ulong)(match->first_voxel + (z * match->size[1] + y) * match->size[0] + x) : ULONG_MAX;
  }
}

static inline void write_stacks(const Match* match, const Part* part, __global const int* counts,
                                __global stored* distances, __global ulong* keys) {
  const int item = (int)get_local_id(0);
  for (int line = item / ITEMS_OF_LINE; line < part->references[1] * part->references[2]; line += LINES_AT_ONCE) {
    const int z = small_quotient(line, part->references[1]);
    const int y = line - z * part->references[1];
    for (int x = item % ITEMS_OF_LINE * LANES; x < part->references[0]; x += ITEMS_OF_LINE * LANES) {
#pragma unroll 1
      for (int i = x; i < min(x + LANES, part->references[0]); ++i) {
        const long along_x = reference_at(match, part->place[0] + i);
        if (along_x < 0) continue;
        const long reference = number_of_reference(match, part, along_x, y, z);
        const long place[3] = {part->place[0] + i, place_of(match, 1, part->number[1] + y),
                               place_of(match, 2, part->number[2] + z)};
        write_stack(match, place, reference, counts[reference], distances, keys);
      }
    }
  }
}

// Is there a candidate at this offset for any reference of the tile?
static inline int is_in_reach(const Match* match, const Part* part, const long* offset) {
  const long reach[3] = {part->references[0] - 1, part->rows - PATCH_OF(1), part->planes - PATCH_OF(2)};
  int reaches = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const long first = part->place[axis] + offset[axis];
    if (first + reach[axis] < 0 || first >= match->places[axis]) reaches = 0;
  }
  return reaches;
}
