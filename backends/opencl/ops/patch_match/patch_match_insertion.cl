// patch_match, insertion: one group a reference, and one of its work-items keeps the stack: the study's first kernel.
//
//   window, in passes of PASS        local memory           All work-items compute the distances of a pass; work-item 0
//   item 0 1 2 3 0 1 2 3             +---+---+---+---       looks at each of them and inserts what is nearer than the
//        v v v v v v v v     ->      | d | d | d |          last of the stack, while the others wait. That takes as
//   candidates ...           item 0  +---+---+---+---       long as there are candidates, whatever the group has.
//                              v stack
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DGROUP=64 -DPASS=256
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DGROUP=16 -DPASS=256
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DGROUP=1 -DPASS=256
#include "ops/patch_match/patch_match_volume.cl"

__kernel void patch_match_insertion(PATCH_MATCH_OPERANDS, const Match match) {
  __local stored found[PASS];
  __local stored stack[MOST_PATCHES];
  __local long numbers[MOST_PATCHES];
  __local int count;
  const int item = (int)get_local_id(0);
  const long reference = (long)get_group_id(0);
  Window window;
  find_window(&match, reference, &window);
  const int places = (int)match.max_patches;
  const long candidates = candidates_of(&window);
  volume += volume_first;
  for (int i = item; i < places; i += GROUP) stack[i] = EMPTY_DISTANCE;
  if (item == 0) count = 0;
#pragma unroll 1
  for (long first = 0; first < candidates; first += PASS) {
    const int length = (int)min((long)PASS, candidates - first);
    for (int i = item; i < length; i += GROUP) {
      const long candidate = candidate_of(&match, &window, first + i);
      found[i] = kept_distance(&match, distance_of(&match, volume + window.reference, volume + candidate));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
      int kept = count;
      for (int i = 0; i < length; ++i) {
        const stored distance = found[i];
        if (!(distance < stack[places - 1])) continue;
        int place = min(kept, places - 1);
        for (; place > 0 && distance < stack[place - 1]; --place) {
          stack[place] = stack[place - 1];
          numbers[place] = numbers[place - 1];
        }
        stack[place] = distance;
        numbers[place] = first + i;
        kept = min(kept + 1, places);
      }
      count = kept;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = item; i < places; i += GROUP) {
    const ulong place = (ulong)(reference * places + i);
    distances[distances_first + place] = stack[i];
    indices[indices_first + place] = i < count ? match.first_voxel + candidate_of(&match, &window, numbers[i]) : -1;
  }
  if (item == 0) counts[counts_first + reference] = count;
}
