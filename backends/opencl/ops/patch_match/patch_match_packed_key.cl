// patch_match, packed_key: one work-item a reference, LANES candidates next to each other along x at a time.
//
//   row of the volume     a b c d e f g ...       A vector holds LANES candidates' sums; each voxel of the reference is
//   reference's voxel 0   r r r r                 subtracted from as many voxels of a row. After a plane of the patch
//   reference's voxel 1     s s s s               the sums are compared with the last distance kept: sums never fall,
//   sums of candidates    . . . .                 so where none is nearer the rest is left out.
//
//   keys, sorted          [ distance | number ]   One comparison of 64 bits orders by distance, then by number, which
//                                                 rises with the index. PLACES keys stay in registers: a new one goes
//                                                 through all of them by minimum and maximum, without an index.
//
// Where a vector would pass the volume's end, the candidates are taken one by one. The loop over a vector's candidates is
// unrolled where all their places are few: of 16 candidates and 64 places PoCL took 29 s to compile it.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DLANES=16 -DPLACES=16
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DLANES=8 -DPLACES=4
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DLANES=4 -DPLACES=64
#include "ops/patch_match/patch_match_vectors.cl"

// Adds the squares of a row of the patch; of floats in the order of the definition.
static inline sums row_of(__global const element* reference, __global const element* candidates, const long length) {
  sums row = (sums)(0);
  for (long x = 0; x < length; ++x) {
    row += squares_of((elements)(reference[x]), LOAD(0, candidates + x));
  }
  return row;
}

// The distances of LANES candidates; what is not nearer than the limit may be left unfinished.
static inline void find_distances(const Match* match, __global const element* reference,
                                  __global const element* candidates, const squared limit, squared* found) {
  sums planes = (sums)(0);
  int is_nearer = 1;
  for (long z = 0; z < match->patch[2] && is_nearer; ++z) {
    sums rows = (sums)(0);
    for (long y = 0; y < match->patch[1]; ++y) {
      const long first = (z * match->size[1] + y) * match->size[0];
      rows += row_of(reference + first, candidates + first, match->patch[0]);
    }
    planes += rows;
    is_nearer = any(planes < (sums)(limit));
  }
  STORE(planes, 0, found);
}

__kernel void patch_match_packed_key(PATCH_MATCH_OPERANDS, const Match match) {
  const long reference = (long)get_global_id(0);
  if (reference >= match.references[0] * match.references[1] * match.references[2]) return;
  Window window;
  find_window(&match, reference, &window);
  const ulong number_bits = (ulong)match.number_bits;
  const long voxels = match.size[0] * match.size[1] * match.size[2];
  // From a candidate's first voxel to behind what a vector of them reads.
  const long reach =
      ((match.patch[2] - 1) * match.size[1] + match.patch[1] - 1) * match.size[0] + match.patch[0] + LANES - 1;
  volume += volume_first;
  squared limit = first_unkept(&match);
  ulong keys[PLACES];
#pragma unroll
  for (int i = 0; i < PLACES; ++i) keys[i] = ULONG_MAX;
  const long rows = window.count[1] * window.count[2];
  for (long row = 0; row < rows; ++row) {
    const long row_number = row * window.count[0];
    const long first = candidate_of(&match, &window, row_number);
    for (long x = 0; x < window.count[0]; x += LANES) {
      const int count = (int)min((long)LANES, window.count[0] - x);
      squared found[LANES];
      if (first + x + reach <= voxels) {
        find_distances(&match, volume + window.reference, volume + first + x, limit, found);
      } else {
        for (int i = 0; i < count; ++i)
          found[i] = distance_of(&match, volume + window.reference, volume + first + x + i);
      }
#if LANES * PLACES > 256
#pragma unroll 1
#else
#pragma unroll
#endif
      for (int i = 0; i < LANES; ++i) {
        if (i >= count || !(found[i] < limit)) continue;
        const ulong key = key_of(found[i], (ulong)(row_number + x + i), number_bits);
#pragma unroll
        for (int place = PLACES - 1; place > 0; --place) keys[place] = min(keys[place], max(keys[place - 1], key));
        keys[0] = min(keys[0], key);
        if (keys[PLACES - 1] != ULONG_MAX) limit = distance_in(keys[PLACES - 1], number_bits);
      }
    }
  }
  int count = 0;
  distances += distances_first + (ulong)(reference * match.max_patches);
  indices += indices_first + (ulong)(reference * match.max_patches);
#pragma unroll
  for (int i = 0; i < PLACES; ++i) {
    if (i >= match.max_patches) continue;
    const int is_kept = keys[i] != ULONG_MAX;
    const long number = (long)(keys[i] & (((ulong)1 << number_bits) - 1));
    distances[i] = is_kept ? (stored)distance_in(keys[i], number_bits) : EMPTY_DISTANCE;
    indices[i] = is_kept ? match.first_voxel + candidate_of(&match, &window, number) : -1;
    count += is_kept;
  }
  counts[counts_first + reference] = count;
}
