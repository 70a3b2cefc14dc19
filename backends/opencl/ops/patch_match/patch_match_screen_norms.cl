// patch_match, packed_key_lanes, of floats and 16 bits in cubes of 4 voxels: sums by norms and products, one operation
// a voxel in the place of two.
//
//   a, b      voxels of the reference's and a candidate's patch      m, n   their means, rounded
//   p = a - m
//
//   sum (a - b)^2  =  |p|^2 + 2 m (sum of p)  +  |b - n|^2 + 64 (n - m)^2  -  2 p b   +  2 (n - m) (sum of b - n)
//
// |b - n|^2 and 8 n of all places lie in memory; the last term, which is nearly 0, is left out. With u = 2^-24, lengths
// P = |p|, C = 8 |m|, D = sqrt(d) of the distance d, and W that of p whose voxels are weighted by 65, 64 .. 2, a sum is
//
//   off by u (86 P^2 + 28 (P + D)^2 + 44 C P + (20 D + 2 W) (P + D + C))
//
// at most, and a twentieth of it, 2^12 u^2 C^2 and 2^-125 for what is of higher order and what underflows. Sums begin
// lower by this at d = 0, and are 0 at least: so all patches that equal the reference have the sum 0, and NaN has it as
// well.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPATCH=4 -DPLACES=16 -DSPARE=4
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DPATCH=4 -DPLACES=16 -DSPARE=4
#include "ops/patch_match/patch_match_screen_list.cl"

#define CUBE (PATCH * PATCH * PATCH)
// Norms along z that a work-item finds, and those that may be read before the first and behind the last.
#define NORM_RUN 16
#define NORMS_AROUND 64

// One reference's.
typedef struct {
  float eight_means;
  float length;
  float weighted;
  float begin;  // of sums of products
} Own;

// How far sums of candidates may be from exact ones, whose distance is as large as this or less.
static inline float apart_of(const Screen* screen, const Own* own, const float distance) {
  const float most = fmin(sqrt(1.001F * distance + screen->underflow), 0x1p66F);  // its square overflows
  const float other = own->length + most;
  const float mean = fabs(own->eight_means);
  const float squares = 86.0F * own->length * own->length + 28.0F * other * other + 44.0F * mean * own->length +
                        0x1p-12F * mean * mean;
  return 1.05F * 0x1p-24F * (squares + (20.0F * most + 2.0F * own->weighted) * (other + mean)) + 0x1p-125F;
}

// Not where sums might overflow.
static inline int may_be_used(const Own* own) {
  return own->length <= 0x1p40F && fabs(own->eight_means) <= 0x1p43F;
}

// Keeps a reference's patch, so far from one voxel to the next.
static inline void find_own(const Match* match, const Screen* screen, __global const element* reference,
                            const float eight_means, const int apart, __local float* patch, Own* own) {
  own->eight_means = eight_means;
  float squares = 0;
  float sum = 0;
  float weighted = 0;
  for (int z = 0; z < PATCH; ++z) {
    float plane_squares = 0;
    float plane_sum = 0;
    for (int i = 0; i < PATCH * PATCH; ++i) {
      const long row = z * match->size[1] + i / PATCH;
      const float whole = (float)reference[row * match->size[0] + i % PATCH];
      const float voxel = whole - 0.125F * eight_means;
      const int number = z * PATCH * PATCH + i;
      patch[number * apart] = whole;
      plane_squares = fma(voxel, voxel, plane_squares);
      plane_sum += voxel;
      const float heavy = (float)(CUBE + 1 - number) * voxel;
      weighted = fma(heavy, heavy, weighted);
    }
    squares += plane_squares;
    sum += plane_sum;
  }
  own->length = sqrt(squares);
  own->weighted = sqrt(weighted);
  own->begin = -0.5F * (fma(0.25F * eight_means, sum, squares) - apart_of(screen, own, 0.0F));
}

// Of a candidate, by its norm and products.
static inline float sum_of(const Own* own, const float2 norm, const float products) {
  const float apart = norm.y - own->eight_means;
  return fmax(fma(-2.0F, products, fma(apart, apart, norm.x)), 0.0F);
}

// Norms and means of all places.
__kernel void patch_match_screen_norms(__global const element* volume, const ulong volume_first, __global float* norms,
                                       const ulong norms_first, const Match match) {
  const long number = (long)get_global_id(0);
  const long line = quotient(number, match.places[0]);
  const long x = number - line * match.places[0];
  const long run = quotient(line, match.places[1]);
  const long y = line - run * match.places[1];
  const long first = run * NORM_RUN;
  if (first >= match.places[2]) return;
  const int places = (int)min((long)NORM_RUN, match.places[2] - first);
  __global const element* plane = volume + volume_first + (first * match.size[1] + y) * match.size[0] + x;
  __global float2* to = (__global float2*)(norms + norms_first) + NORMS_AROUND +
                        (first * match.places[1] + y) * match.places[0] + x;
  float voxels[PATCH][PATCH * PATCH];  // of the last planes
  float sums[PATCH];
  for (int z = 0; z < places + PATCH - 1; ++z, plane += match.size[1] * match.size[0]) {
#pragma unroll
    for (int i = 0; i < PATCH - 1; ++i) {
      sums[i] = sums[i + 1];
#pragma unroll
      for (int k = 0; k < PATCH * PATCH; ++k) voxels[i][k] = voxels[i + 1][k];
    }
    float rows[PATCH];
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
      float* const row = voxels[PATCH - 1] + i * PATCH;
#pragma unroll
      for (int k = 0; k < PATCH; ++k) row[k] = (float)plane[i * match.size[0] + k];
      rows[i] = (row[0] + row[1]) + (row[2] + row[3]);
    }
    sums[PATCH - 1] = (rows[0] + rows[1]) + (rows[2] + rows[3]);
    if (z < PATCH - 1) continue;
    const float eight_means = 0.125F * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    float squares[PATCH];
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
      squares[i] = 0;
#pragma unroll
      for (int k = 0; k < PATCH * PATCH; ++k) {
        const float voxel = voxels[i][k] - 0.125F * eight_means;
        squares[i] = fma(voxel, voxel, squares[i]);
      }
    }
    *to = (float2)((squares[0] + squares[1]) + (squares[2] + squares[3]), eight_means);
    to += match.places[0] * match.places[1];
  }
}
