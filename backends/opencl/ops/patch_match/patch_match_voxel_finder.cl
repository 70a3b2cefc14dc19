// patch_match, packed_key_lanes, voxel by voxel: of floats and 16 bits, and of bytes whose sums pass 32.
//
//   row of the volume     a b c d e f g ...       A work-item holds the candidates' sums; each voxel of the reference is
//   reference's voxel 0   r r r r                 subtracted from as many voxels of a row. A row of the candidates'
//   reference's voxel 1     s s s s               voxels is read once where PATCH is 4, the voxels along each axis, and
//   sums of candidates    . . . .                 where it is 0 once for each of the reference's.
//
// After a plane of the patch the sums are compared with the last distance kept: sums never fall, so where none is
// nearer the rest is left out.
//
// Compiles alone with: -DTYPE=0 -DNARROW=0 -DPATCH=0
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPATCH=4
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DPATCH=0
#include "ops/patch_match/patch_match_volume.cl"

#define LANES 12

typedef struct {
  __global const element* volume;
  __global const element* reference;
} Finder;

// Candidates that do not exist are taken for the last one.
static inline void find_row(const Match* match, __global const element* reference, __global const element* candidates,
                            const int count, squared* sums) {
#pragma unroll
  for (int i = 0; i < LANES; ++i) sums[i] = 0;
#if PATCH
  element voxels[LANES + PATCH - 1];
#pragma unroll
  for (int i = 0; i < LANES + PATCH - 1; ++i) voxels[i] = candidates[min(i, count + PATCH - 2)];
#pragma unroll
  for (int x = 0; x < PATCH; ++x) {
    const element voxel = reference[x];
#pragma unroll
    for (int i = 0; i < LANES; ++i) sums[i] += square_of(voxel, voxels[i + x]);
  }
#else
#pragma unroll 1
  for (long x = 0; x < match->patch[0]; ++x) {
    const element voxel = reference[x];
#pragma unroll
    for (int i = 0; i < LANES; ++i) sums[i] += square_of(voxel, candidates[x + min(i, count - 1)]);
  }
#endif
}

// The distances of `count` candidates from (x, y, z) on; what is not nearer than the limit may be left unfinished.
static inline void find(const Finder* finder, const Match* match, const long x, const long y, const long z,
                        const int count, const squared limit, squared* found) {
  __global const element* const candidates = finder->volume + (z * match->size[1] + y) * match->size[0] + x;
#pragma unroll
  for (int i = 0; i < LANES; ++i) found[i] = 0;
#pragma unroll 1
  for (long plane = 0; plane < (PATCH > 0 ? PATCH : match->patch[2]); ++plane) {
    squared rows[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i) rows[i] = 0;
#pragma unroll 1
    for (long row = 0; row < (PATCH > 0 ? PATCH : match->patch[1]); ++row) {
      const long first = (plane * match->size[1] + row) * match->size[0];
      squared sums[LANES];
      find_row(match, finder->reference + first, candidates + first, count, sums);
#pragma unroll
      for (int i = 0; i < LANES; ++i) rows[i] += sums[i];
    }
    int is_nearer = 0;
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
      found[i] += rows[i];
      is_nearer |= found[i] < limit;
    }
    if (!is_nearer) return;
  }
}
