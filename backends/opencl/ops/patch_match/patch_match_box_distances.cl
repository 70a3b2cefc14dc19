// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: distances as they are defined (decision 0017), of
// voxels in local memory, and stacks on their way out of it. Half a warp has a reference.
//
//   rows     of a candidate a lane has one of 16 rows of four voxels; the row's sum goes to local memory
//   sums     then a lane has a candidate, and adds up its rows and planes
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_halves_walk.cl"
#include "ops/patch_match/patch_match_stack.cl"

#define HALF 16
#define NO_PLACE ULONG_MAX

// What is needed for stacks, and where it lies: sums of rows, then keys in the order of their places and for comparing.
typedef struct {
  const Match* match;
  const Tile* tile;
  const Unit* unit;
  __local const element* voxels;
  __local squared* sums;
  __local ulong* sorted;  // two stacks, and one
  __local int* nearness;  // of the keys of both halves
  __global int* counts;
  __global stored* distances;
  __global long* indices;
} Out;

ALWAYS_INLINE squared square_apart(const element a, const element b) {
#if TYPE == 2
  return square_of(a, b);
#else
  const int apart = (int)a - (int)b;
  return (long)apart * apart;
#endif
}
// Of two rows of four voxels.
ALWAYS_INLINE squared row_distance(const element own[SIDE], const element other[SIDE]) {
  squared sum = square_apart(own[0], other[0]);
#pragma unroll
  for (int x = 1; x < SIDE; ++x) sum += square_apart(own[x], other[x]);
  return sum;
}
ALWAYS_INLINE void read_row(__local const element* from, element row[SIDE]) {
#pragma unroll
  for (int x = 0; x < SIDE; ++x) row[x] = from[x];
}
// Of patches that begin at these voxels of the tile.
ALWAYS_INLINE squared patch_distance(__local const element* own, __local const element* other) {
  squared planes = 0;
#pragma unroll 1
  for (int z = 0; z < SIDE; ++z, own += VOXEL_PLANE, other += VOXEL_PLANE) {
    squared plane = 0;
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
      element a[SIDE], b[SIDE];
      read_row(own + y * VOXEL_ROW, a);
      read_row(other + y * VOXEL_ROW, b);
      plane += row_distance(a, b);
    }
    planes += plane;
  }
  return planes;
}
// Of a reference, in the tile.
ALWAYS_INLINE int first_voxel_of(const Unit* unit, const int number) {
  return (WINDOW_Z / 2 + along_z(number)) * VOXEL_PLANE +
         (WINDOW_Y / 2 + unit->y + along_y(number)) * VOXEL_ROW + WINDOW_X / 2 + unit->x + along_x(number);
}
ALWAYS_INLINE long reference_of(const Out* out, const int number) {
  return reference_at(out->match, out->tile, out->unit->x + along_x(number), out->unit->y + along_y(number),
                      along_z(number));
}
ALWAYS_INLINE int is_reference_of(const Out* out, const int number) {
  return is_reference(out->match, out->tile, out->unit->x + along_x(number), out->unit->y + along_y(number),
                      along_z(number));
}

ALWAYS_INLINE squared sum_of_rows(__local const squared* rows) {
  squared planes = 0;
#pragma unroll
  for (int z = 0; z < SIDE; ++z) {
    squared plane = rows[SIDE * z];
#pragma unroll
    for (int y = 1; y < SIDE; ++y) plane += rows[SIDE * z + y];
    planes = z == 0 ? plane : planes + plane;
  }
  return planes;
}
ALWAYS_INLINE ulong key_of_voxel(const Match* match, const squared distance, const ulong voxel) {
#if TYPE == 2
  const int is_kept = distance <= match->largest_float;
#else
  const int is_kept = distance <= match->largest;
#endif
  return is_kept ? key_of(distance, voxel, PLACE_BITS) : NO_PLACE;
}

// A lane's key, of the half's reference and its listed candidates, of which there are `listed`, and of the warp's other
// half perhaps more. What is behind the list's end is anything.
ALWAYS_INLINE ulong find_key(const Out* out, const int number, __local const ushort* list, const int listed,
                             const int most, const int at_a_time) {
  const int lane = (int)get_local_id(0) % HALF;
  const int side = (int)get_local_id(0) % 32 / HALF;
  __local const element* const voxels = out->voxels + lane / SIDE * VOXEL_PLANE + lane % SIDE * VOXEL_ROW;
  element own[SIDE];
  read_row(voxels + first_voxel_of(out->unit, number), own);
  __local squared* const sums = out->sums + side * HALF * SUM_STRIDE + lane;
#pragma unroll 1
  for (int i = 0; i < most; i += at_a_time) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (k >= at_a_time) continue;
      element other[SIDE];
      read_row(voxels + min((uint)list[i + k], (uint)LAST_VOXEL), other);
      sums[(i + k) * SUM_STRIDE] = row_distance(own, other);
    }
  }
  sync_lanes();
  ulong key = NO_PLACE;
  if (lane < listed) {
    const squared distance = sum_of_rows(out->sums + (int)get_local_id(0) % 32 * SUM_STRIDE);
    key = key_of_voxel(out->match, distance, list[lane]);
  }
  sync_lanes();
  return key;
}

// Of a half's lanes the i-th has the place i.
ALWAYS_INLINE void write_sorted(const Out* out, const int number, const ulong key, const int is_written) {
  const Match* const match = out->match;
  const int lane = (int)get_local_id(0) % HALF;
  const int side = (int)get_local_id(0) % 32 / HALF;
  const int places = (int)match->max_patches;
  const int is_taken = key != NO_PLACE && lane < places;
  const int count = (int)popcount(which_are(is_taken) >> (side * HALF) & ((1u << HALF) - 1));
  if (!is_written || lane >= places) return;
  const long reference = reference_of(out, number);
  if (lane == 0) out->counts[reference] = count;
  const int voxel = (int)(key & ((1u << PLACE_BITS) - 1));
  const int z = voxel / VOXEL_PLANE;
  const int y = (voxel - z * VOXEL_PLANE) / VOXEL_ROW;
  const int x = voxel - z * VOXEL_PLANE - y * VOXEL_ROW;
  const long at = reference * places + lane;
  const long index = first_candidate(match, out->tile) + (z * match->size[1] + y) * match->size[0] + x;
  out->distances[at] = is_taken ? (stored)distance_in(key, PLACE_BITS) : EMPTY_DISTANCE;
  out->indices[at] = is_taken ? index : -1;
}
