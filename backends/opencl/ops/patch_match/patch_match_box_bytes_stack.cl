// patch_match, box_sums of bytes by NVIDIA's tensor cores: a lane's two references, its lists of what is near them, and
// its stacks.
//
//   list     slots of two candidates side by side:  | sum | column of the first |  | sum | place along z |  24 and 8 bits
//   key      [ distance | number ]  One comparison orders by distance, then by number, which rises with the index.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_bytes_walk.cl"

#define NONE UINT_MAX

// A lane's two references, r = 0 and 1, which differ by 2 along z.
typedef struct {
  uint own[4][4];  // pairs of words, one behind the other along z, of both
  int norms[2];
  int limits[2];
  uint begins[2];  // of the lists, in bytes
  uint ends[2];
  uint stacks[2][PLACES];  // sorted keys, the nearest first
} Nearest;

// Whose distance is not larger has a larger sum than this.
ALWAYS_INLINE int limit_of(const int norm, const int distance) {
  return ((norm - distance + 1) >> 1) - 1;
}
ALWAYS_INLINE __local uint2* at(__local Shared* shared, const uint byte) {
  return (__local uint2*)((__local uchar*)shared->lists + byte);
}

ALWAYS_INLINE void begin_nearest(const Match* match, const Box* box, const Tile* tile, const Unit* unit,
                                 __local Shared* shared, Nearest* nearest) {
  const int item = (int)get_local_id(0);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int x = unit->x + along_x(unit->group);
    const int y = unit->y + along_y(unit->group);
    const int z = along_z(unit->group + 8 * r);
    const int from_x = WINDOW_X / 2 + x, from_y = WINDOW_Y / 2 + y, from_z = WINDOW_Z / 2 + z;
    const int column = from_y * ROW + from_x;
    nearest->norms[r] =
        (int)shared->odd[from_z * NUMBER_PLANE + column] - 2 * shared->norms[from_z * NORM_PLANE + column];
    nearest->limits[r] =
        is_reference(match, tile, x, y, z) ? limit_of(nearest->norms[r], box->most_distance) : INT_MAX;
    // Read twice, so that each pair of words has registers of its own.
    volatile __local const uint* const from =
        shared->words + from_z * WORD_PLANE + (from_y + unit->t) * ROW + from_x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      nearest->own[k][r] = from[k * WORD_PLANE];
      nearest->own[k][r + 2] = from[(k + 1) % 4 * WORD_PLANE];
    }
    nearest->begins[r] = nearest->ends[r] = (uint)(item / 32 * 2 * LIST_BYTES + r * LIST_BYTES + item % 32 * 8);
#pragma unroll
    for (int i = 0; i < PLACES; ++i) nearest->stacks[r][i] = NONE;
  }
}

ALWAYS_INLINE uint key_of_sum(const uint norm, const int is_nearer, const int sum, const uint number,
                              const uint odd) {
  const uint scale = 1u << NUMBER_BITS;
  return is_nearer ? norm * scale + number + odd * scale - (uint)sum * (2 * scale) : NONE;
}

// Keeps the nearest of the stack and of sorted keys.
ALWAYS_INLINE void merge(uint keys[PLACES], const uint list[PLACES]) {
#pragma unroll
  for (int i = 0; i < PLACES; ++i) keys[i] = min(keys[i], list[PLACES - 1 - i]);
  BITONIC_PAIRS_OF_16(IN_ORDER)
}

ALWAYS_INLINE void merge_list(__local Shared* shared, Nearest* nearest, const int r) {
  uint keys[PLACES];
#pragma unroll
  for (int i = 0; i < SLOTS; ++i) {
    const uint slot = nearest->begins[r] + i * SLOT_BYTES;
    const uint2 both = *at(shared, slot);
    const int first = (int)both.x >> 8;
    const int second = (int)both.y >> 8;
    const uint number = (both.x & 255) + (both.y & 255) * NUMBER_PLANE;
    const int is_listed = nearest->ends[r] > slot;
    const uint norm = (uint)nearest->norms[r];
    keys[2 * i] = key_of_sum(norm, is_listed & (first > nearest->limits[r]), first, number, shared->odd[number]);
    keys[2 * i + 1] =
        key_of_sum(norm, is_listed & (second > nearest->limits[r]), second, number + 1, shared->odd[number + 1]);
  }
  nearest->ends[r] = nearest->begins[r];
  PAIRS_OF_16(IN_ORDER)
  merge(nearest->stacks[r], keys);
  // What the lane's 16 are within, and what 4 of each of the four lanes are.
  uint within = nearest->stacks[r][PLACES / 4 - 1];
  within = max(within, (uint)of_lane_1_apart((int)within));
  within = max(within, (uint)of_lane_2_apart((int)within));
  within = min(within, nearest->stacks[r][PLACES - 1]);
  if (within != NONE) {
    nearest->limits[r] = max(nearest->limits[r], limit_of(nearest->norms[r], (int)(within >> NUMBER_BITS)));
  }
}
ALWAYS_INLINE void merge_lists(__local Shared* shared, Nearest* nearest) {
  merge_list(shared, nearest, 0);
  merge_list(shared, nearest, 1);
}

// The stacks of the four lanes that have the same references, merged.
ALWAYS_INLINE void merge_lanes(Nearest* nearest) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    uint others[PLACES];
#pragma unroll
    for (int i = 0; i < PLACES; ++i) others[i] = (uint)of_lane_1_apart((int)nearest->stacks[r][i]);
    merge(nearest->stacks[r], others);
#pragma unroll
    for (int i = 0; i < PLACES; ++i) others[i] = (uint)of_lane_2_apart((int)nearest->stacks[r][i]);
    merge(nearest->stacks[r], others);
  }
}

// Writes the stacks, of which four lanes have the same.
ALWAYS_INLINE void write_stacks(const Match* match, const Box* box, const Tile* tile, const Unit* unit,
                                __local Shared* shared, const Nearest* nearest, __global int* counts,
                                __global long* distances, __global long* indices) {
  const int lane = (int)get_local_id(0) % 32;
  __local uint* const keys = (__local uint*)at(shared, nearest->begins[0] - lane * 8);
  const int row = PLACES + 1;
  sync_lanes();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int i = 0; i < PLACES; ++i) {
      // A limit lets one distance more through than is kept.
      const uint key = nearest->stacks[r][i];
      const int is_kept = (int)(key >> NUMBER_BITS) <= box->most_distance;
      if (i / 4 == unit->t) keys[(unit->group + 8 * r) * row + i] = is_kept ? key : NONE;
    }
  }
  sync_lanes();
  const int places = (int)match->max_patches;
  const int place = lane % PLACES;
  const int x = unit->x + lane / PLACES;
  const long reference = reference_at(match, tile, x, unit->y, 0);
  const long first = first_candidate(match, tile);
#pragma unroll 2
  for (int i = 0; i < UNIT_REFERENCES / 2; ++i) {
    const int y = along_y(2 * i);
    const int z = along_z(2 * i);
    const uint key = keys[(2 * i + lane / PLACES) * row + place];
    const int is_kept = place < places && key != NONE;
    const uint kept = which_are(is_kept);
    if (place >= places || !is_reference(match, tile, x, unit->y + y, z)) continue;
    const long at = reference + (z * match->references[1] + y) * match->references[0];
    if (place == 0) {
      const int count = (int)popcount(kept >> (lane / PLACES * PLACES) & 0xffffu);
      counts[at] = count < places && box->leaves_rest != 0 ? -1 : count;
    }
    const int number = (int)(key & ((1u << NUMBER_BITS) - 1));
    const int plane = number / NUMBER_PLANE;
    const int of_plane = number % NUMBER_PLANE;
    const int line = of_plane / ROW;
    distances[at * places + place] = is_kept ? (long)(key >> NUMBER_BITS) : EMPTY_DISTANCE;
    indices[at * places + place] =
        is_kept ? first + (plane * match->size[1] + line) * match->size[0] + of_plane - line * ROW : -1;
  }
}
