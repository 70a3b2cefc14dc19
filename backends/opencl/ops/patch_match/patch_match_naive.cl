// patch_match, naive: one work-item a reference, its stack in global memory.
//
//   volume                      stack of the item         A work-item compares its patch with every candidate, voxel by
//   +-----------------+         +---+---+---+---          voxel from global memory. One that is nearer than the last of
//   |    +-window-+   |    d    | d | d | d |             the stack is put in its place; what is further moves back.
//   |    | r  c   |   | ------> | i | i | i |             Candidates come in the order of their indices, so of equal
//   |    +--------+   |         +---+---+---+---          ones the later goes behind.
//   +-----------------+
//
// Compiles alone with: -DTYPE=0 -DNARROW=1
// Compiles alone with: -DTYPE=1 -DNARROW=0
// Compiles alone with: -DTYPE=2 -DNARROW=0
#include "ops/patch_match/patch_match_volume.cl"

__kernel void patch_match_naive(PATCH_MATCH_OPERANDS, const Match match) {
  const long reference = (long)get_global_id(0);
  if (reference >= match.references[0] * match.references[1] * match.references[2]) return;
  Window window;
  find_window(&match, reference, &window);
  const long places = match.max_patches;
  volume += volume_first;
  distances += distances_first + (ulong)(reference * places);
  indices += indices_first + (ulong)(reference * places);
  for (long i = 0; i < places; ++i) {
    distances[i] = EMPTY_DISTANCE;
    indices[i] = -1;
  }
  const long candidates = candidates_of(&window);
  long count = 0;
  for (long number = 0; number < candidates; ++number) {
    const long candidate = candidate_of(&match, &window, number);
    const stored distance = kept_distance(&match, distance_of(&match, volume + window.reference, volume + candidate));
    if (!(distance < distances[places - 1])) continue;
    long place = min(count, places - 1);
    for (; place > 0 && distance < distances[place - 1]; --place) {
      distances[place] = distances[place - 1];
      indices[place] = indices[place - 1];
    }
    distances[place] = distance;
    indices[place] = match.first_voxel + candidate;
    count = min(count + 1, places);
  }
  counts[counts_first + reference] = (int)count;
}
