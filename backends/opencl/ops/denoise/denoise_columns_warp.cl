// denoise, columns: a warp's local memory, through which halves of its patches go from work-items that have a patch each to
// work-items that have a voxel each, and back. See denoise_columns.cl.
//
// Compiles alone with: -DTYPE=0 -DPLACES=16 -DWIENER=0 -DUNROLL=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DPLACES=32 -DWIENER=1 -DUNROLL=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_columns_filter.cl"

#define STACKS (32 / PLACES)
// From a patch to the next one's: half of one, and so much that eight work-items that store four each meet in no bank.
#define PITCH 36

// A warp's memory.
typedef struct {
  float4 rows[32 * PITCH / 4];
  uint4 energies[STACKS * 8];
  int voxels[32];  // of each patch: its first voxel, counted from the region's first one in the volume
  uint sums[32];   // and in the region
} Warp;

static inline void put(const int lane, const int part, const float* patch, __local Warp* warp) {
  UNROLLED for (int i = 0; i < 8; ++i) {
    const int v = part * 32 + 4 * i;
    warp->rows[lane * (PITCH / 4) + i] = (float4)(patch[v], patch[v + 1], patch[v + 2], patch[v + 3]);
  }
}
static inline void take(const int lane, const int part, float* patch, __local const Warp* warp) {
  UNROLLED for (int i = 0; i < 8; ++i) {
    const int v = part * 32 + 4 * i;
    const float4 four = warp->rows[lane * (PITCH / 4) + i];
    patch[v] = four.s0;
    patch[v + 1] = four.s1;
    patch[v + 2] = four.s2;
    patch[v + 3] = four.s3;
  }
}
static inline void take_members(const int lane, const int s, float* numbers, __local const Warp* warp) {
  __local const float* const rows = (__local const float*)warp->rows;
  UNROLLED for (int m = 0; m < PLACES; ++m) numbers[m] = rows[(s * PLACES + m) * PITCH + lane];
}
static inline void put_members(const int lane, const int s, const float* numbers, __local Warp* warp) {
  __local float* const rows = (__local float*)warp->rows;
  UNROLLED for (int m = 0; m < PLACES; ++m) rows[(s * PLACES + m) * PITCH + lane] = numbers[m];
}

static inline uint energy_of(const int s, __local const Warp* warp) {
  uint4 sum = 0;
  UNROLLED for (int i = 0; i < 8; ++i) sum += warp->energies[s * 8 + i];
  return sum.s0 + sum.s1 + sum.s2 + sum.s3;
}
