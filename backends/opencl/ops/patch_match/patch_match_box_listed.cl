// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: stacks of listed candidates, by distances as they
// are defined. Two references are found at a time.
//
//   places   a candidate's place in the stack is the number of those that are nearer. They are compared as floats first,
//            which may tie: then all bits are compared, and numbers.
//
// A reference with a longer list is found alone, so many candidates at a time, and one without a list by all lanes.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_distances.cl"

// Never falls where keys rise.
ALWAYS_INLINE int nearness_of(const ulong key) {
  if (key == NO_PLACE) return INT_MAX;
#if TYPE == 2
  return (int)(key >> PLACE_BITS);
#else
  return as_int((float)(key >> PLACE_BITS));
#endif
}

// Finds places once more.
ALWAYS_INLINE void compare_all_bits(const Out* out, const ulong mine[2], const int most, int places[2]) {
  const int lane = (int)get_local_id(0) % HALF;
  const int side = (int)get_local_id(0) % 32 / HALF;
  __local ulong* const keys = (__local ulong*)out->sums + side * TOGETHER;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    keys[k * HALF + lane] = mine[k];
    places[k] = 0;
  }
  sync_lanes();
#pragma unroll 1
  for (int i = 0; i < most; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) places[k] += keys[i] < mine[k] ? 1 : 0;
  }
}

// Finds the stacks of two references, each half of the warp its own, of which up to TOGETHER candidates are listed, and
// writes those that are to be written. All lanes call it.
ALWAYS_INLINE void write_two(const Out* out, const int number, __local const ushort* list, const int listed,
                             const int is_written) {
  const int lane = (int)get_local_id(0) % HALF;
  const int side = (int)get_local_id(0) % 32 / HALF;
  const int most = max(listed, of_lane_apart(listed, HALF));
  ulong keys[2];
  keys[0] = find_key(out, number, list, listed, min(most, HALF), 8);
  keys[1] = NO_PLACE;
  if (most > HALF) keys[1] = find_key(out, number, list + HALF, listed - HALF, most - HALF, 4);
  __local int* const nearness = out->nearness + side * NEAR_STRIDE;
  __local ulong* const sorted = out->sorted + side * HALF;
  int mine[2];
  sorted[lane] = NO_PLACE;
#pragma unroll
  for (int k = 0; k < 2; ++k) nearness[k * HALF + lane] = mine[k] = nearness_of(keys[k]);
  sync_lanes();
  int places[2] = {0, 0};
#pragma unroll 1
  for (int i = 0; i < most; i += 4) {
    const int4 others = *(__local const int4*)(nearness + i);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      // None is below 0, so a difference's sign tells which is less.
      places[k] -= (others.x - mine[k]) >> 31;
      places[k] -= (others.y - mine[k]) >> 31;
      places[k] -= (others.z - mine[k]) >> 31;
      places[k] -= (others.w - mine[k]) >> 31;
    }
  }
  // Of each half a bit for each place that is taken. Where there are fewer than keys, some are as near.
  uint taken = 0;
  int count = 0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int is_taken = keys[k] != NO_PLACE && places[k] < PLACES;
    taken |= is_taken ? 1u << (side * HALF + places[k]) : 0u;
    count += (int)popcount(which_are(is_taken));
  }
  if ((int)popcount(any_of_lanes(taken)) < count) compare_all_bits(out, keys, most, places);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    if (keys[k] != NO_PLACE && places[k] < PLACES) sorted[places[k]] = keys[k];
  }
  sync_lanes();
  write_sorted(out, number, sorted[lane], is_written);
  sync_lanes();
}

// Finds and writes the stack of a reference, of which so many candidates are listed. All lanes call it.
ALWAYS_INLINE void write_long(const Out* out, const int number, __local const ushort* list, const int listed) {
  const int lane = (int)get_local_id(0) % 32;
  const int side = lane / HALF;
  __local ulong* const sorted = out->sorted;
  __local ulong* const before = sorted + 2 * HALF;
  __local ulong* const keys = (__local ulong*)out->sums;
  sorted[lane] = NO_PLACE;
  ulong best = NO_PLACE;  // of the first PLACES, a lane's
#pragma unroll 1
  for (int some = 0; some < listed; some += TOGETHER) {
    const int from = some + side * HALF;
    const ulong key = find_key(out, number, list + from, listed - from, HALF, 8);
    keys[lane] = key;
    if (lane < HALF) before[lane] = best;
    sync_lanes();
    int place = 0;
    int place_of_best = lane;  // those before are sorted
#pragma unroll 4
    for (int i = 0; i < TOGETHER; ++i) {
      place += keys[i] < key ? 1 : 0;
      place_of_best += keys[i] < best ? 1 : 0;
    }
#pragma unroll 4
    for (int i = 0; i < PLACES; ++i) place += before[i] < key ? 1 : 0;
    if (key != NO_PLACE && place < PLACES) sorted[place] = key;
    if (lane < HALF && best != NO_PLACE && place_of_best < PLACES) sorted[place_of_best] = best;
    sync_lanes();
    best = sorted[lane % HALF];
    sync_lanes();
  }
  write_sorted(out, number, best, lane < HALF);
}

// The same of a reference without a list, a candidate a lane. Where as many equal it as a stack has places, none that
// follows is nearer.
ALWAYS_INLINE void find_together(const Out* out, const int number) {
  const Match* const match = out->match;
  const int lane = (int)get_local_id(0) % 32;
  const long reference = reference_of(out, number);
  Window window;
  find_window(match, reference, &window);
  const int strides[3] = {1, VOXEL_ROW, VOXEL_PLANE};
  int from = 0;
  int count[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    from += (int)(window.first[axis] - out->tile->first[axis]) * strides[axis];
    count[axis] = (int)window.count[axis];
  }
  __local const element* const own = out->voxels + first_voxel_of(out->unit, number);
  const int candidates = count[0] * count[1] * count[2];
  patch_key keys[PLACES];
  clear_stack(keys);
  squared limit = first_unkept(match);
#pragma unroll 1
  for (int some = 0; some < candidates && limit != 0; some += 32) {
    const int of_lane_now = min(some + lane, candidates - 1);
    const int line = small_quotient(of_lane_now, count[0]);
    const int z = small_quotient(line, count[1]);
    const int voxel =
        from + of_lane_now - line * count[0] + (line - z * count[1]) * VOXEL_ROW + z * VOXEL_PLANE;
    const squared found = patch_distance(own, out->voxels + voxel);
    const ulong key = key_of(found, (patch_key)(some + lane), match->number_bits);
#pragma unroll 1
    for (uint within = which_are(some + lane < candidates && found < limit); within != 0; within &= within - 1) {
      const int of = 31 - (int)clz(within & -within);
      const ulong nearest = (ulong)(uint)of_lane((int)(key >> 32), of) << 32 | (uint)of_lane((int)key, of);
      if (!(distance_in(nearest, match->number_bits) < limit)) continue;
      insert_key(keys, nearest);
      // Where fewer places are wanted, the limit is that of all.
      if (keys[PLACES - 1] != NO_KEY) limit = distance_in(keys[PLACES - 1], match->number_bits);
    }
  }
  if (lane != 0) return;
  const long place = reference * match->max_patches;
  out->counts[reference] = write_stack(match, &window, keys, out->distances + place, out->indices + place);
}
