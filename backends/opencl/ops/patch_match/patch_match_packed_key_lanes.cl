// patch_match, packed_key_lanes: one work-item a reference, as GPUs want it.
//
//   keys, sorted          [ distance | number ]   One comparison orders by distance, then by number, which rises with
//                                                 the index. PLACES keys stay in registers: a new one goes through all
//                                                 of them by minimum and maximum, without an index.
//
//   a row of the window   LANES candidates at a time, next to each other along x. Their distances are compared with the
//   +--+--+--+--+--       last one kept; if any is nearer, they pass through local memory, where a work-item can name
//   |12|12|12| ..         them by number. No other work-item reads them, so nobody waits.
//   +--+--+--+--+--
//
// WORDS: distances of bytes come from norms and products, else from differences. SECOND: only of references that
// patch_match_screen.cl has left.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DSHORT_KEYS=1 -DSECOND=0 -DWORDS=1 -DDP4A=0 -DPATCH=4 -DPLACES=16 -DGROUP=128
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DSHORT_KEYS=0 -DSECOND=0 -DWORDS=1 -DDP4A=0 -DPATCH=0 -DPLACES=4 -DGROUP=128
// Compiles alone with: -DTYPE=0 -DNARROW=0 -DSHORT_KEYS=0 -DSECOND=0 -DWORDS=0 -DPATCH=0 -DPLACES=4 -DGROUP=64
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DSHORT_KEYS=0 -DSECOND=1 -DWORDS=0 -DPATCH=4 -DPLACES=16 -DGROUP=128
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DSHORT_KEYS=0 -DSECOND=0 -DWORDS=0 -DPATCH=0 -DPLACES=64 -DGROUP=1
#include "ops/patch_match/patch_match_stack.cl"
#if WORDS
#include "ops/patch_match/patch_match_word_finder.cl"
#else
#include "ops/patch_match/patch_match_voxel_finder.cl"
#endif

#if WORDS
#define WORD_OPERANDS                                                                              \
  __global const uint *restrict words, const ulong words_first, __global const uint *restrict norms, \
      const ulong norms_first, const Match match, const Words shape
#define FIND(x, y, z, count, limit, found) find(&finder, &match, &shape, x, y, z, count, limit, found)
#else
#define WORD_OPERANDS const Match match
#define FIND(x, y, z, count, limit, found) find(&finder, &match, x, y, z, count, limit, found)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void patch_match_packed_key_lanes(PATCH_MATCH_OPERANDS,
                                                                                              WORD_OPERANDS) {
  __local squared staged[LANES][GROUP];
  const long reference = (long)get_global_id(0);
  const size_t item = get_local_id(0);
  if (reference >= match.references[0] * match.references[1] * match.references[2]) return;
#if SECOND
  if (counts[counts_first + reference] >= 0) return;
#endif
  Window window;
  find_window(&match, reference, &window);
  Finder finder;
#if WORDS
  finder.words = words + words_first;
  finder.norms = norms + norms_first;
  find_reference(&finder, &match, &shape, window.reference);
#else
  finder.volume = volume + volume_first;
  finder.reference = finder.volume + window.reference;
#endif
  const int number_bits = match.number_bits;
  squared limit = first_unkept(&match);
  patch_key keys[PLACES];
  clear_stack(keys);
  long number = 0;
#pragma unroll 1
  for (long row = 0; row < window.count[1] * window.count[2]; ++row) {
    const long plane = quotient(row, window.count[1]);
    const long z = window.first[2] + plane;
    const long y = window.first[1] + row - plane * window.count[1];
#pragma unroll 1
    for (long x = 0; x < window.count[0]; x += LANES) {
      const int count = (int)min((long)LANES, window.count[0] - x);
      squared found[LANES];
      FIND(window.first[0] + x, y, z, count, limit, found);
      uint nearer = 0;
#pragma unroll
      for (int i = 0; i < LANES; ++i) nearer |= i < count && found[i] < limit ? 1U << i : 0U;
      if (nearer != 0) {
#pragma unroll
        for (int i = 0; i < LANES; ++i) staged[i][item] = found[i];
      }
#pragma unroll 1
      for (; nearer != 0; nearer &= nearer - 1) {
        const int i = 31 - (int)clz(nearer & -nearer);
        const squared distance = staged[i][item];
        if (!(distance < limit)) continue;
        const patch_key key = key_of(distance, (patch_key)(number + i), number_bits);
        insert_key(keys, key);
        if (keys[PLACES - 1] != NO_KEY) limit = distance_in(keys[PLACES - 1], number_bits);
      }
      number += count;
    }
  }
  const ulong place = (ulong)(reference * match.max_patches);
  counts[counts_first + reference] =
      write_stack(&match, &window, keys, distances + distances_first + place, indices + indices_first + place);
}
