// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: stacks of listed candidates, by distances as they
// are defined. All references of a warp are sorted together, two lanes each.
//
//   key      [ the highest bits of the distance, as a float's | the candidate's place in its list ]
//
// Where two keys have the same bits of the distance, a reference is found alone, by all bits, as one with a longer list is,
// so many candidates at a time; one without a list is found by all lanes.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_distances.cl"

#define SLOTS TOGETHER
#define NOT_KEPT 0xffff0000u

// Never falls where distances rise.
ALWAYS_INLINE uint nearness_of(const squared distance) {
  return as_uint((float)distance);
}

// Sorts the candidates of all references by their distances, lanes 2 i and 2 i + 1 those of reference i, of which so many are
// listed. Returns whether some are so near to each other that their order is not known. All lanes call it.
ALWAYS_INLINE int sort_listed(const Out* out, const int listed) {
  const int lane = (int)get_local_id(0) % 32;
  uint keys[PLACES];
#pragma unroll
  for (int i = 0; i < PLACES; ++i) {
    const int slot = 2 * i + lane % 2;
    // Those that are not there are apart from each other, too.
    keys[i] = NOT_KEPT | (uint)(slot * (SLOTS + 1));
    if (slot >= listed) continue;
    const squared distance = distance_at(out, lane / 2, slot);
    if (is_kept_distance(out->match, distance)) keys[i] = (nearness_of(distance) & ~(SLOTS - 1u)) | (uint)slot;
  }
  PAIRS_OF_16(IN_ORDER)
  uint next = UINT_MAX;  // of those that have no place
#pragma unroll
  for (int i = 0; i < PLACES / 2; ++i) {
    const int j = PLACES - 1 - i;
    const uint low = (uint)of_lane_1_apart((int)keys[i]);
    const uint high = (uint)of_lane_1_apart((int)keys[j]);
    next = min(next, min(max(keys[i], high), max(keys[j], low)));
    keys[i] = min(keys[i], high);
    keys[j] = min(keys[j], low);
  }
  BITONIC_PAIRS_OF_16(IN_ORDER)
  int is_tied = (keys[PLACES - 1] ^ next) < SLOTS;
#pragma unroll
  for (int i = 1; i < PLACES; ++i) is_tied |= (keys[i] ^ keys[i - 1]) < SLOTS;
  __local uint* const sorted = out->stacks + lane / 2 * (PLACES + 1);
#pragma unroll
  for (int i = 0; i < PLACES; ++i) {
    if (i % 2 == lane % 2) sorted[i] = keys[i];
  }
  sync_lanes();
  return is_tied;
}
// Writes what is sorted of two references, each half its own, if it is to be written. All lanes call it.
ALWAYS_INLINE void write_two(const Out* out, const int number, __local const ushort* list, const int is_written) {
  const uint sorted = out->stacks[number * (PLACES + 1) + (int)get_local_id(0) % HALF];
  ulong key = NO_PLACE;
  if (is_written && sorted < NOT_KEPT) {
    const int slot = (int)(sorted % SLOTS);
    key = key_of(distance_at(out, number, slot), list[slot], PLACE_BITS);
  }
  write_sorted(out, number, key, is_written);
}

// Finds and writes the stack of a reference, of which so many candidates are listed, and of up to TOGETHER perhaps their
// distances found. All lanes call it.
ALWAYS_INLINE void write_long(const Out* out, const int number, __local const ushort* list, const int listed,
                              const int are_found) {
  const int lane = (int)get_local_id(0) % 32;
  const int side = lane / HALF;
  __local ulong* const keys = (__local ulong*)out->stacks;
  __local ulong* const before = keys + TOGETHER;
  __local ulong* const sorted = before + HALF;
  if (lane < HALF) sorted[lane] = NO_PLACE;
  ulong best = NO_PLACE;  // of the first PLACES, a lane's
#pragma unroll 1
  for (int some = 0; some < listed; some += TOGETHER) {
    const int from = side * HALF;
    if (!are_found) find_distances(out, number, list + some + from, min(listed - some - from, HALF), from);
    const int is_there = some + lane < listed;
    const ulong key =
        is_there ? key_of_voxel(out->match, distance_at(out, number, lane), list[some + lane]) : NO_PLACE;
    keys[lane] = key;
    if (lane < HALF) before[lane] = best;
    sync_lanes();
    int place = 0;
    int place_of_best = lane;  // those before are sorted
    const int end = min(listed - some, TOGETHER);
#pragma unroll 4
    for (int i = 0; i < end; ++i) {
      place += keys[i] < key ? 1 : 0;
      place_of_best += keys[i] < best ? 1 : 0;
    }
#pragma unroll 4
    for (int i = 0; i < (some == 0 ? 0 : PLACES); ++i) place += before[i] < key ? 1 : 0;
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
