// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: distances as they are defined (decision 0017), of
// voxels in local memory, and stacks on their way out of it. Half a warp has a reference.
//
//   planes   of a candidate a lane has one of four planes of 4 x 4 voxels; four lanes tell each other their sums, and the
//            distance goes to local memory. So half a warp finds four at a time.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_halves_walk.cl"
#include "ops/patch_match/patch_match_stack.cl"

#define HALF 16
#define NO_PLACE ULONG_MAX

// What is needed for stacks, and where it lies.
typedef struct {
  const Match* match;
  const Tile* tile;
  const Unit* unit;
  __local const element* voxels;
  __local uint* stacks;     // sorted candidates of all references, or keys of one
  __local uint* found;      // distances of the warp's listed candidates, of whole numbers their lower 32 bits
  __local uchar* upper;     // and the upper ones
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
ALWAYS_INLINE squared plane_distance(__local const element* own, __local const element* other) {
  squared plane = 0;
#pragma unroll
  for (int y = 0; y < SIDE; ++y) {
    element a[SIDE], b[SIDE];
    read_row(own + y * VOXEL_ROW, a);
    read_row(other + y * VOXEL_ROW, b);
    plane += row_distance(a, b);
  }
  return plane;
}
// Of patches that begin at these voxels of the tile.
ALWAYS_INLINE squared patch_distance(__local const element* own, __local const element* other) {
  squared planes = 0;
#pragma unroll 1
  for (int z = 0; z < SIDE; ++z, own += VOXEL_PLANE, other += VOXEL_PLANE) planes += plane_distance(own, other);
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

ALWAYS_INLINE squared of_lane_squared(const squared distance, const int lane) {
#if TYPE == 2
  return as_float(of_lane(as_int(distance), lane));
#else
  return (long)((ulong)(uint)of_lane((int)((ulong)distance >> 32), lane) << 32 | (uint)of_lane((int)distance, lane));
#endif
}
ALWAYS_INLINE void set_distance(const Out* out, const int number, const int slot, const squared distance) {
  const int at = number * SLOT_STRIDE + slot;
#if TYPE == 2
  out->found[at] = as_uint(distance);
#else
  out->found[at] = (uint)distance;
  out->upper[at] = (uchar)((ulong)distance >> 32);
#endif
}
ALWAYS_INLINE squared distance_at(const Out* out, const int number, const int slot) {
  const int at = number * SLOT_STRIDE + slot;
#if TYPE == 2
  return as_float(out->found[at]);
#else
  return (long)((ulong)out->upper[at] << 32 | out->found[at]);
#endif
}
// Finds the distances of the half's reference and its listed candidates, and keeps them at these slots; what is behind the
// list's end is anything. All lanes call it.
ALWAYS_INLINE void find_distances(const Out* out, const int number, __local const ushort* list, const int listed,
                                  const int first_slot) {
  const int lane = (int)get_local_id(0) % 32;
  const int z = lane % SIDE;
  __local const element* const voxels = out->voxels + z * VOXEL_PLANE;
  element own[SIDE][SIDE];
#pragma unroll
  for (int y = 0; y < SIDE; ++y) read_row(voxels + first_voxel_of(out->unit, number) + y * VOXEL_ROW, own[y]);
  const int most = max(listed, of_lane_apart(listed, HALF));
#pragma unroll 1
  for (int from = 0; from < most; from += HALF / SIDE) {
    const int i = from + lane % HALF / SIDE;
    __local const element* const other = voxels + min((uint)list[i], (uint)LAST_VOXEL);
    squared plane = 0;
#pragma unroll
    for (int y = 0; y < SIDE; ++y) {
      element row[SIDE];
      read_row(other + y * VOXEL_ROW, row);
      plane += row_distance(own[y], row);
    }
    squared planes = 0;
#pragma unroll
    for (int k = 0; k < SIDE; ++k) planes += of_lane_squared(plane, lane / SIDE * SIDE + k);
    if (z == 0 && i < listed) set_distance(out, number, first_slot + i, planes);
  }
  sync_lanes();
}
ALWAYS_INLINE int is_kept_distance(const Match* match, const squared distance) {
#if TYPE == 2
  return distance <= match->largest_float;
#else
  return distance <= match->largest;
#endif
}
ALWAYS_INLINE ulong key_of_voxel(const Match* match, const squared distance, const ulong voxel) {
  return is_kept_distance(match, distance) ? key_of(distance, voxel, PLACE_BITS) : NO_PLACE;
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
