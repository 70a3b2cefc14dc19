// patch_match: the operands of every launch, where references and candidates lie, and the distance of two patches.
//
//   type     TYPE NARROW   element squared   Bytes are summed in 32 bits where a patch is so small that they hold all
//   uint8      0     1     uchar   uint      sums, else in 64. A float distance is defined operation by operation
//   uint8      0     0     uchar   long      (docs/decisions/0017): no product is fused with a sum.
//   uint16     1     0     ushort  long
//   float32    2     0     float   float
//
// Compiles alone with: -DTYPE=0 -DNARROW=1
// Compiles alone with: -DTYPE=0 -DNARROW=0
// Compiles alone with: -DTYPE=1 -DNARROW=0
// Compiles alone with: -DTYPE=2 -DNARROW=0
#include "ops/host_struct.cl"
#include "ops/quotient.cl"

#pragma OPENCL FP_CONTRACT OFF

#if TYPE == 2
typedef float element;
typedef float squared;
typedef float stored;
#define EMPTY_DISTANCE INFINITY
#else
#if TYPE == 1
typedef ushort element;
#else
typedef uchar element;
#endif
#if NARROW
typedef uint squared;
#else
typedef long squared;
#endif
typedef long stored;
#define EMPTY_DISTANCE LONG_MAX
#endif

#define MOST_PATCHES 64

// Of each axis, x first: see PatchAxis of mathematics/patch_match_geometry.h.
typedef struct {
  long size[3], patch[3], places[3], window[3], step[3], references[3], start[3], last_place[3];
  long first_voxel;  // of those that are held: what an index has more than a place in them
  long largest;
  long max_patches;
  float largest_float;
  int number_bits;  // of a candidate's number in a key
} Match;
SIZE_ON_THE_HOST(Match, 224);

#define PATCH_MATCH_OPERANDS                                                                                         \
  __global const element *volume, const ulong volume_first, __global int *counts, const ulong counts_first,          \
      __global stored *distances, const ulong distances_first, __global long *indices, const ulong indices_first

// A reference's first voxel, and the candidates around it: from `first` on, so many along each axis.
typedef struct {
  long reference;
  long first[3];
  long count[3];
} Window;

// Not by a value that is returned: inlining makes a scope of it, which Oclgrind does not know.
static inline void find_window(const Match* match, const long reference, Window* window) {
  long place[3];
  long rest = reference;
  for (int axis = 0; axis < 3; ++axis) {
    const long next = quotient(rest, match->references[axis]);
    const long number = rest - next * match->references[axis];
    place[axis] = min(match->start[axis] + number * match->step[axis], match->last_place[axis]);
    const long half_window = match->window[axis] / 2;
    window->first[axis] = max(place[axis] - half_window, 0L);
    window->count[axis] = min(place[axis] - half_window + match->window[axis], match->places[axis]) - window->first[axis];
    rest = next;
  }
  window->reference = (place[2] * match->size[1] + place[1]) * match->size[0] + place[0];
}

static inline long candidates_of(const Window* window) {
  return window->count[0] * window->count[1] * window->count[2];
}

// The first voxel of a window's candidate, in the order of indices.
static inline long candidate_of(const Match* match, const Window* window, const long number) {
  const long row = quotient(number, window->count[0]);
  const long plane = quotient(row, window->count[1]);
  const long x = window->first[0] + number - row * window->count[0];
  const long y = window->first[1] + row - plane * window->count[1];
  return ((window->first[2] + plane) * match->size[1] + y) * match->size[0] + x;
}

static inline squared square_of(const element a, const element b) {
#if TYPE == 2
  const float difference = a - b;
  return difference * difference;
#else
  // The square of 16 bits fits into 32 that have no sign.
  const uint difference = abs_diff((uint)a, (uint)b);
  return (squared)(difference * difference);
#endif
}

static inline squared distance_of(const Match* match, __global const element* reference,
                                  __global const element* candidate) {
  squared planes = 0;
  for (long z = 0; z < match->patch[2]; ++z) {
    squared rows = 0;
    for (long y = 0; y < match->patch[1]; ++y) {
      const long first = (z * match->size[1] + y) * match->size[0];
      squared row = 0;
      for (long x = first; x < first + match->patch[0]; ++x) row += square_of(reference[x], candidate[x]);
      rows += row;
    }
    planes += rows;
  }
  return planes;
}

// A distance as stacks hold it: EMPTY_DISTANCE if the threshold does not keep it, or it is not finite.
static inline stored kept_distance(const Match* match, const squared distance) {
#if TYPE == 2
  return distance <= match->largest_float ? distance : EMPTY_DISTANCE;
#else
  return (long)distance <= match->largest ? (long)distance : EMPTY_DISTANCE;
#endif
}
