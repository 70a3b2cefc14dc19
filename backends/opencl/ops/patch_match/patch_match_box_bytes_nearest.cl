// patch_match, box_sums of bytes by NVIDIA's tensor cores: stacks of listed candidates, whose distances are found once
// more, from the words of both patches.
//
//   lanes    two for each of a warp's 16 references: a lane finds every other candidate's distance, up to 16 at a time,
//            sorts them by a network of minimum and maximum, and merges both lanes' in the end
//   key      [ distance | number ]  One comparison orders by distance, then by number, which rises with the index.
//
// Where ties fill the lists, or distances pass what a key holds, all lanes look at a reference together.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_bytes_walk.cl"

#define NONE UINT_MAX
#define MOST_OF_KEYS ((1 << (32 - NUMBER_BITS)) - 2)  // distance

// Where a group's stacks come from and go to.
typedef struct {
  const Match* match;
  const Box* box;
  const Tile* tile;
  const Unit* unit;
  __local const uint* words;
  __local const int* norms;
  __local uint* notes;  // of the warp
  __local const ushort* lists;
  __global int* counts;
  __global long* distances;
  __global long* indices;
} Out;

ALWAYS_INLINE int is_reference_of(const Out* out, const int number) {
  return is_reference(out->match, out->tile, out->unit->x + along_x(number), out->unit->y + along_y(number),
                      along_z(number));
}
ALWAYS_INLINE long place_of_reference(const Out* out, const int number) {
  return reference_at(out->match, out->tile, out->unit->x + along_x(number), out->unit->y + along_y(number),
                      along_z(number));
}
ALWAYS_INLINE __local const uint* words_of_reference(const Out* out, const int number) {
  return out->words + plane_of(number) * WORD_PLANE + column_of(out->unit, number);
}
ALWAYS_INLINE __local const uint* words_of(const Out* out, const int number) {
  return out->words + number + (number >> PLANE_BITS) * (WORD_PLANE - (1 << PLANE_BITS));
}
ALWAYS_INLINE void read_patch(__local const uint* from, uint patch[SIDE * SIDE]) {
#pragma unroll
  for (int i = 0; i < SIDE * SIDE; ++i) patch[i] = from[i / SIDE * WORD_PLANE + i % SIDE * ROW];
}
ALWAYS_INLINE uint distance_of_bytes(const uint own[SIDE * SIDE], __local const uint* from) {
  uint sums[SIDE] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < SIDE * SIDE; ++i) {
    uint apart;
    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;"
        : "=r"(apart)
        : "r"(own[i]), "r"(from[i / SIDE * WORD_PLANE + i % SIDE * ROW]), "r"(0));
    sums[i / SIDE] = add_products(apart, sums[i / SIDE]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Keeps the nearest of the stack and of sorted keys.
ALWAYS_INLINE void merge(uint keys[PLACES], const uint list[PLACES]) {
#pragma unroll
  for (int i = 0; i < PLACES; ++i) keys[i] = min(keys[i], list[PLACES - 1 - i]);
  BITONIC_PAIRS_OF_16(IN_ORDER)
}
ALWAYS_INLINE void read_sorted(__local const uint* found, const int end, uint keys[PLACES]) {
#pragma unroll
  for (int i = 0; i < PLACES; ++i) keys[i] = i < end ? found[32 * i] : NONE;
  PAIRS_OF_16(IN_ORDER)
}

// Finds the stacks, of which two lanes have the same, of so many candidates that begin there in the warp's list. Returns
// whether some passed what a key holds, and a stack has room for them. All lanes call it.
ALWAYS_INLINE int find_stacks(const Out* out, const int begin, const int count, uint stack[PLACES]) {
  const int lane = (int)get_local_id(0) % 32;
  uint own[SIDE * SIDE];
  read_patch(words_of_reference(out, lane / 2), own);
  __local uint* const found = out->notes + lane;
  __local const ushort* const list = out->lists + begin;
  const int most_distance = out->box->most_distance;
  const int most_of_key = min(most_distance, MOST_OF_KEYS);
  int most = count;
#pragma unroll
  for (int apart = 2; apart < 32; apart *= 2) most = max(most, of_lane_apart(most, apart));
  int is_beyond = 0;
#pragma unroll
  for (int i = 0; i < PLACES; ++i) stack[i] = NONE;
#pragma unroll 1
  for (int from = 0; from < most; from += 2 * PLACES) {
    const int end = min((most - from + 1) / 2, PLACES);  // of a lane
#pragma unroll 1
    for (int i = 0; i < end; ++i) {
      const int at = from + 2 * i + lane % 2;
      const int number = at < count ? list[at] : 0;
      const int distance = (int)distance_of_bytes(own, words_of(out, number));
      is_beyond |= at < count && distance > MOST_OF_KEYS && distance <= most_distance;
      found[32 * i] = at < count && distance <= most_of_key ? (uint)(distance << NUMBER_BITS | number) : NONE;
    }
    uint keys[PLACES];
    read_sorted(found, end, keys);
    merge(stack, keys);
  }
  uint others[PLACES];
#pragma unroll
  for (int i = 0; i < PLACES; ++i) others[i] = (uint)of_lane_1_apart((int)stack[i]);
  merge(stack, others);
  const uint beyond = which_are(is_beyond) >> lane / 2 * 2 & 3;
  return beyond != 0 && stack[PLACES - 1] == NONE;
}

ALWAYS_INLINE void write_place(const Out* out, const long at, const long first, const int number, const int distance,
                               const int is_kept) {
  const Match* const match = out->match;
  const int of_plane = number & ((1 << PLANE_BITS) - 1);
  const int y = of_plane / ROW;
  out->distances[at] = is_kept ? (long)distance : EMPTY_DISTANCE;
  out->indices[at] = is_kept ? first + ((number >> PLANE_BITS) * match->size[1] + y) * match->size[0] + of_plane - y * ROW
                             : -1;
}
// Writes the stacks of the references that bits are given of. All lanes call it.
ALWAYS_INLINE void write_stacks(const Out* out, const uint stack[PLACES], const uint references) {
  const int lane = (int)get_local_id(0) % 32;
  const int row = PLACES + 1;
  sync_lanes();
#pragma unroll
  for (int i = 0; i < PLACES; ++i) {
    if (i % 2 == lane % 2) out->notes[lane / 2 * row + i] = stack[i];
  }
  sync_lanes();
  const int places = (int)out->match->max_patches;
  const int place = lane % PLACES;
  const int second = lane / PLACES;  // of two references
  const long first = first_candidate(out->match, out->tile);
#pragma unroll 2
  for (int i = 0; i < UNIT_REFERENCES / 2; ++i) {
    const int number = 2 * i + second;
    const uint key = out->notes[number * row + place];
    const int is_kept = place < places && key != NONE;
    const uint kept = which_are(is_kept);
    if (place >= places || (references >> number & 1) == 0) continue;
    const long reference = place_of_reference(out, number);
    if (place == 0) out->counts[reference] = (int)popcount(kept >> second * PLACES & 0xffffu);
    write_place(out, reference * places + place, first, (int)(key & ((1u << NUMBER_BITS) - 1)), (int)(key >> NUMBER_BITS),
                is_kept);
  }
}

// Finds and writes the stack of a reference, a candidate a lane, in the order of their numbers. Where as many equal it as
// a stack has places, none that follows is nearer. All lanes call it.
ALWAYS_INLINE void find_together(const Out* out, const int number) {
  const int lane = (int)get_local_id(0) % 32;
  uint own[SIDE * SIDE];
  read_patch(words_of_reference(out, number), own);
  const int first_number = (along_z(number) << PLANE_BITS) + (out->unit->y + along_y(number)) * ROW + out->unit->x +
                           along_x(number);
  const int candidates = WINDOW_X * WINDOW_Y * WINDOW_Z;
  // Of lane i the i-th key, and the last one of all places.
  int distance = INT_MAX, candidate = INT_MAX;
  int last = INT_MAX;
#pragma unroll 1
  for (int some = 0; some < candidates && last != 0; some += 32) {
    const int of_lane_here = min(some + lane, candidates - 1);
    const int row = of_lane_here / WINDOW_X;
    const int plane = row / WINDOW_Y;
    const int at = first_number + (plane << PLANE_BITS) + (row - plane * WINDOW_Y) * ROW + of_lane_here - row * WINDOW_X;
    const int norm = out->norms[at + (at >> PLANE_BITS) * (NORM_PLANE - (1 << PLANE_BITS))];
    const int found = (int)distance_of_bytes(own, words_of(out, at));
    const int is_kept = some + lane < candidates && norm != NO_NORM && found <= out->box->most_distance;
    // Numbers rise, so that of equal distances the first ones stay.
#pragma unroll 1
    for (uint left = which_are(is_kept && found < last); left != 0; left &= left - 1) {
      const int from = 31 - (int)clz(left & -left);
      const int other = of_lane(found, from);
      const int other_candidate = of_lane(at, from);
      const int before = of_lane_before(distance, 1);
      const int candidate_before = of_lane_before(candidate, 1);
      const int place = (int)popcount(which_are(distance <= other));
      distance = lane < place ? distance : lane == place ? other : before;
      candidate = lane < place ? candidate : lane == place ? other_candidate : candidate_before;
    }
    last = of_lane(distance, PLACES - 1);
  }
  const int places = (int)out->match->max_patches;
  const int is_taken = lane < places && distance != INT_MAX;
  const uint kept = which_are(is_taken);
  if (lane >= places) return;
  const long reference = place_of_reference(out, number);
  if (lane == 0) out->counts[reference] = (int)popcount(kept);
  write_place(out, reference * places + lane, first_candidate(out->match, out->tile), candidate & ((1 << NUMBER_BITS) - 1),
              distance, is_taken);
}
