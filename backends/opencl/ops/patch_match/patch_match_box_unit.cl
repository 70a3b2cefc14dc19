// patch_match, box_sums by NVIDIA's tensor cores, a reference at every place: where the references of a group and of a
// warp lie, whatever they are compared by. Patches of 4 x 4 x 4, windows up to 11 along each axis, up to 16 kept.
//
//   a warp     2 x 2 x 4 references, rows of the products: x fastest, then y, then z. Their candidates are nearly the
//              same: 12 x 12 x 14 where each has 11 x 11 x 11. Lane 4 g + t has the sums of references g and g + 8,
//              which differ by 2 along z.
//   a group    2 x 2 warps: 4 x 4 x 4 references, whose candidates' voxels are 17 x 17 x 17. That is as much as 48 KiB of
//              local memory hold with all that is made of it; four groups share a multiprocessor.
//
// The window is known when the program is compiled, WINDOW_X x WINDOW_Y x WINDOW_Z, so that no step asks whether it is in it.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/nvidia_warp.cl"
#include "ops/patch_match/patch_match_key.cl"

#define SIDE 4  // of a patch
#define MOST_WINDOW 11
#define UNIT_X 2
#define UNIT_Y 2
#define UNIT_Z 4
#define UNIT_REFERENCES (UNIT_X * UNIT_Y * UNIT_Z)
#define WARPS_X 2
#define WARPS_Y 2
#define WARPS (WARPS_X * WARPS_Y)
#define ITEMS (32 * WARPS)
#define TILE (UNIT_X * WARPS_X)  // references along each axis
#define COLUMNS_X 4              // candidates that a warp compares at a time
#define COLUMNS_Y 2
#define STEPS (UNIT_Z + WINDOW_Z - 1)  // along z
#define ROWS (UNIT_Y + WINDOW_Y - 1)   // of candidates, along y
#define MOST_X (UNIT_X + WINDOW_X - 1) // and along x
#define PLACES_OF_TILE (TILE + MOST_WINDOW - 1)
#define VOXELS_OF_TILE (PLACES_OF_TILE + SIDE - 1)
#define PLACES 16  // of a stack
#if UNIT_Y * WARPS_Y != TILE || UNIT_Z != TILE
#error "a tile is no cube"
#endif
#if WINDOW_X > MOST_WINDOW || WINDOW_Y > MOST_WINDOW || WINDOW_Z > MOST_WINDOW
#error "a tile holds no such windows"
#endif

// How the host cut references into tiles.
typedef struct {
  int tiles[2];       // along x and y
  int most_distance;  // of bytes, that is kept; -1: none is
} Box;
SIZE_ON_THE_HOST(Box, 12);

// A group's tile, of references at places that follow each other.
typedef struct {
  long number[3];  // of its first reference
  long first[3];   // where that one's first candidate lies, were the volume without borders
} Tile;

ALWAYS_INLINE void find_tile(const Match* match, const Box* box, Tile* tile) {
  const int group = (int)get_group_id(0);
  const int line = small_quotient(group, box->tiles[0]);
  const int plane = small_quotient(line, box->tiles[1]);
  tile->number[0] = (long)(group - line * box->tiles[0]) * TILE;
  tile->number[1] = (long)(line - plane * box->tiles[1]) * TILE;
  tile->number[2] = (long)plane * TILE;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    tile->first[axis] = match->start[axis] + tile->number[axis] - match->window[axis] / 2;
  }
}
ALWAYS_INLINE int is_reference(const Match* match, const Tile* tile, const int x, const int y, const int z) {
  return tile->number[0] + x < match->references[0] && tile->number[1] + y < match->references[1] &&
         tile->number[2] + z < match->references[2];
}
ALWAYS_INLINE long reference_at(const Match* match, const Tile* tile, const int x, const int y, const int z) {
  return ((tile->number[2] + z) * match->references[1] + tile->number[1] + y) * match->references[0] +
         tile->number[0] + x;
}
// The voxel of the tile's first candidate, among all of the volume.
ALWAYS_INLINE long first_candidate(const Match* match, const Tile* tile) {
  return match->first_voxel + (tile->first[2] * match->size[1] + tile->first[1]) * match->size[0] + tile->first[0];
}

// A warp's references.
ALWAYS_INLINE int along_x(const int number) {
  return number % 2;
}
ALWAYS_INLINE int along_y(const int number) {
  return number / 2 % 2;
}
ALWAYS_INLINE int along_z(const int number) {
  return number / 4;
}
ALWAYS_INLINE int is_below(const int a, const int b) {
  return (uint)a < (uint)b;
}

// A lane's place in its warp and in the tile.
typedef struct {
  int group;  // of four lanes, and the place in it
  int t;
  int x;  // of the warp's first reference, from the tile's
  int y;
} Unit;

ALWAYS_INLINE void find_unit(Unit* unit) {
  const int item = (int)get_local_id(0);
  unit->group = item % 32 / 4;
  unit->t = item % 4;
  unit->x = item / 32 % WARPS_X * UNIT_X;
  unit->y = item / 32 / WARPS_X * UNIT_Y;
}
// May the candidate at this step along z be in the window of a lane's reference r?
ALWAYS_INLINE int may_be_within(const int r, const int step) {
  return step >= 2 * r && step <= 2 * r + WINDOW_Z;
}
// Is it? Mostly that is known at once.
ALWAYS_INLINE int is_within(const Unit* unit, const int r, const int step) {
  const int first = 2 * r;  // or one more
  if (!may_be_within(r, step)) return 0;
  if (step > first && step < first + WINDOW_Z) return 1;
  return is_below(step - first - unit->group / 4, WINDOW_Z);
}

// In a warp's list: where a lane's own go, and where all of its reference, which four lanes have, begin and end.
typedef struct {
  int at;
  int begin;
  int end;
} ListPlaces;
// For so many of the lane's own, behind `before` that are listed already; then these are counted there, too.
ALWAYS_INLINE ListPlaces places_in_list(const int count, int* before) {
  const int lane = (int)get_local_id(0) % 32;
  int end = count;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const int others = of_lane_before(end, apart);
    if (lane >= apart) end += others;
  }
  end += *before;
  *before = of_lane(end, 31);
  ListPlaces places;
  places.at = end - count;
  places.begin = of_lane(places.at, lane / 4 * 4);
  places.end = of_lane(end, lane / 4 * 4 + 3);
  return places;
}
