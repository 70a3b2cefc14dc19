// patch_match: a stack of PLACES sorted keys in a work-item's registers.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPLACES=16
#include "ops/patch_match/patch_match_key.cl"

static inline void clear_stack(patch_key* keys) {
#pragma unroll
  for (int i = 0; i < PLACES; ++i) keys[i] = NO_KEY;
}

// Through all of them by minimum and maximum, without an index.
static inline void insert_key(patch_key* keys, const patch_key key) {
#pragma unroll
  for (int place = PLACES - 1; place > 0; --place) keys[place] = min(keys[place], max(keys[place - 1], key));
  keys[0] = min(keys[0], key);
}

// From the stack's first place on; returns how many are kept.
static inline int write_stack(const Match* match, const Window* window, const patch_key* keys,
                              __global stored* distances, __global long* indices) {
  const int number_bits = match->number_bits;
  int count = 0;
#pragma unroll
  for (int i = 0; i < PLACES; ++i) {
    if (i >= match->max_patches) continue;
    const int is_kept = keys[i] != NO_KEY;
    const long number = (long)(keys[i] & (((patch_key)1 << number_bits) - 1));
    distances[i] = is_kept ? (stored)distance_in(keys[i], number_bits) : EMPTY_DISTANCE;
    indices[i] = is_kept ? match->first_voxel + candidate_of(match, window, number) : -1;
    count += is_kept;
  }
  return count;
}
