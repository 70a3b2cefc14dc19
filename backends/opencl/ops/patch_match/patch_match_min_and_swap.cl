// patch_match, min_and_swap: one group a reference; the stack comes from repeated minimum reductions in place.
//
//   local memory: pairs of distance and number            A pass of the window is computed behind the stack. Then for
//   +-stack------+-pass of candidates----+                each place k all work-items reduce what stands from k on:
//   | 1  3  5  9 | 7  2  8  -  4  6  ... |   k = 1        pair i and pair i + half are compared, and the nearer goes to
//   +------------+-----------------------+                the front, halving by halving. A pair that loses is swapped,
//      ^k    swap if nearer    ^k + half                  not overwritten, so that nothing is lost for the next place.
//
// Any length will do: of an odd one the pair in the middle waits for the next halving. The last UNROLL pairs are left
// to work-item 0, in a loop that is unrolled: less waiting than a barrier for each halving. A pair without a patch is
// further than any other, and at the first of those in front the pass is done.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DGROUP=64 -DPASS=256 -DUNROLL=1
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DGROUP=16 -DPASS=256 -DUNROLL=4
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DGROUP=1 -DPASS=256 -DUNROLL=16
#include "ops/patch_match/patch_match_volume.cl"

typedef struct {
  stored distance[MOST_PATCHES + PASS];
  long number[MOST_PATCHES + PASS];  // of the candidate in its window
} Pairs;

static inline int is_nearer(__local const Pairs* pairs, const int a, const int b) {
  return pairs->distance[a] < pairs->distance[b] ||
         (pairs->distance[a] == pairs->distance[b] && pairs->number[a] < pairs->number[b]);
}

static inline void swap_pairs(__local Pairs* pairs, const int a, const int b) {
  const stored distance = pairs->distance[a];
  const long number = pairs->number[a];
  pairs->distance[a] = pairs->distance[b];
  pairs->number[a] = pairs->number[b];
  pairs->distance[b] = distance;
  pairs->number[b] = number;
}

// Puts the nearest of the pairs from `front` up to `end` at the front. All work-items call it.
static inline void min_and_swap(__local Pairs* pairs, const int front, const int end) {
  const int item = (int)get_local_id(0);
  int count = end - front;
#pragma unroll 1
  while (count > UNROLL) {
    const int half_count = (count + 1) / 2;
    for (int i = front + item; i < front + count - half_count; i += GROUP) {
      if (is_nearer(pairs, i + half_count, i)) swap_pairs(pairs, i, i + half_count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    count = half_count;
  }
#if UNROLL > 1
  if (item == 0) {
    int nearest = front;
#pragma unroll
    for (int i = 1; i < UNROLL; ++i) {
      if (i < count && is_nearer(pairs, front + i, nearest)) nearest = front + i;
    }
    if (nearest != front) swap_pairs(pairs, front, nearest);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

__kernel void patch_match_min_and_swap(PATCH_MATCH_OPERANDS, const Match match) {
  __local Pairs pairs;
  const int item = (int)get_local_id(0);
  const long reference = (long)get_group_id(0);
  Window window;
  find_window(&match, reference, &window);
  const int places = (int)match.max_patches;
  const long candidates = candidates_of(&window);
  volume += volume_first;
  for (int i = item; i < places; i += GROUP) {
    pairs.distance[i] = EMPTY_DISTANCE;
    pairs.number[i] = LONG_MAX;
  }
#pragma unroll 1
  for (long first = 0; first < candidates; first += PASS) {
    const int length = (int)min((long)PASS, candidates - first);
    for (int i = item; i < length; i += GROUP) {
      const long candidate = candidate_of(&match, &window, first + i);
      pairs.distance[places + i] =
          kept_distance(&match, distance_of(&match, volume + window.reference, volume + candidate));
      pairs.number[places + i] = first + i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int is_done = 0;
#pragma unroll 1
    for (int front = 0; front < places && !is_done; ++front) {
      min_and_swap(&pairs, front, places + length);
      is_done = pairs.distance[front] == EMPTY_DISTANCE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  int count = 0;
  for (int i = 0; i < places; ++i) count += pairs.distance[i] != EMPTY_DISTANCE;
  for (int i = item; i < places; i += GROUP) {
    const ulong place = (ulong)(reference * places + i);
    distances[distances_first + place] = pairs.distance[i];
    indices[indices_first + place] = i < count ? match.first_voxel + candidate_of(&match, &window, pairs.number[i]) : -1;
  }
  if (item == 0) counts[counts_first + reference] = count;
}
