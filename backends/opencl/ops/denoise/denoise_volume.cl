// denoise: a step of the operator as launches take it, and how voxels become numbers and sums voxels again. Every
// operation is the definition's (docs/decisions/0019): no product is fused with a sum.
//
//   TYPE   element    exponent of the scale
//   0      uchar      8
//   1      ushort     16
//   2      float      of the largest finite magnitude, whose bits the launch "largest" leaves in the workspace
//
// Sums are pairs in the workspace, of a voxel's weighted estimates and of its weights: whole numbers of 64 bits. They
// stand for `held` voxels: the volume, but along the slabs' axis a ring of slices (mathematics/denoise_rounds.h).
//
// Compiles alone with: -DTYPE=0
// Compiles alone with: -DTYPE=1
// Compiles alone with: -DTYPE=2
#include "ops/host_struct.cl"
#include "ops/quotient.cl"

#pragma OPENCL FP_CONTRACT OFF

#if TYPE == 2
typedef float element;
#elif TYPE == 1
typedef ushort element;
#else
typedef uchar element;
#endif

#define WEIGHT_UNITS 1048576.0f
#define LEAST_EXPONENT (-100)
#define MOST_EXPONENT 126
#define LARGEST_SIDE 16
#define LARGEST_STACK 64

// Of each axis, x first.
typedef struct {
  long size[3], patch[3], held[3];
  long references;              // of the round
  long first_slice, end_slice;  // that are cleared or finished
  long end_of_sums;             // slices from here on are reached by no stack
  long places;                  // of a stack, a power of two
  long channels;
  long channel;  // that is filtered
  int axis;      // of the slabs: 1 or 2
  int has_basic;
  int fraction_bits;
  int place_bits;  // places = 1 << place_bits
  float units;      // of a whole number in an estimate
  float most_units;
} Step;
SIZE_ON_THE_HOST(Step, 152);

static inline long held_voxels(const Step* step) {
  return step->held[0] * step->held[1] * step->held[2];
}
static inline long volume_voxels(const Step* step) {
  return step->size[0] * step->size[1] * step->size[2];
}
static inline long patch_voxels(const Step* step) {
  return step->patch[0] * step->patch[1] * step->patch[2];
}

static inline float power_of_two(const int exponent) {
  return as_float((uint)(exponent + 127) << 23);
}

// Of a step: `largest` holds the bits of the largest finite magnitude, of floats.
static inline int scale_exponent(__global const uint* largest) {
#if TYPE == 2
  return *largest == 0 ? 0 : clamp((int)(*largest >> 23) - 126, LEAST_EXPONENT, MOST_EXPONENT);
#else
  return TYPE == 1 ? 16 : 8;
#endif
}

// What one step multiplies with, all in one table: matrices of x, y and z, the window, and of each exponent and channel
// the threshold and the variance.
static inline long matrix_at(const Step* step, const int axis) {
  long at = 0;
  for (int before = 0; before < axis; ++before) at += step->patch[before] * step->patch[before];
  return at;
}
static inline long scales_at(const Step* step, const int exponent) {
  return matrix_at(step, 3) + patch_voxels(step) +
         2 * ((exponent - LEAST_EXPONENT) * step->channels + step->channel);
}

// A voxel of one colour, scaled; of a volume that is not finite there, the basic estimate's.
static inline float scaled_colour(__global const element* from, __global const element* instead, const int has_instead,
                                  const long at, const float scale) {
#if TYPE == 2
  const float voxel = from[at];
  return (has_instead && !isfinite(voxel) ? instead[at] : voxel) * scale;
#else
  return (float)from[at] * scale;
#endif
}

// The number that is filtered in the step's channel.
static inline float number_at(const Step* step, __global const element* from, __global const element* instead,
                              const int has_instead, const long at, const float scale) {
  const float red = scaled_colour(from, instead, has_instead, at, scale);
  if (step->channels == 1) return red;
  const long voxels = volume_voxels(step);
  const float green = scaled_colour(from, instead, has_instead, at + voxels, scale);
  const float blue = scaled_colour(from, instead, has_instead, at + 2 * voxels, scale);
  if (step->channel == 0) return ((red + green) + blue) * (1.0f / 3.0f);
  if (step->channel == 1) return (red - blue) * 0.5f;
  return ((red - green) + (blue - green)) * 0.25f;
}

// Of two neighbours along a stack: their sum in the place of the first, their difference in that of the second.
#define HAAR_PAIR(first, second)                           \
  do {                                                     \
    const float a_ = (first);                              \
    const float b_ = (second);                             \
    (first) = (a_ + b_) * 0.70710678118654752440f;         \
    (second) = (a_ - b_) * 0.70710678118654752440f;        \
  } while (0)

static inline long filtered_members(const int count) {
  return count > 0 ? 1L << (31 - (int)clz(count)) : 0;
}

// A voxel's weight and its estimate as whole numbers.
static inline int weight_units(const float stack, const float window) {
  return max(convert_int_rte(stack * window * WEIGHT_UNITS), 1);
}
static inline int estimate_units(const Step* step, const float estimate) {
  return convert_int_rte(clamp(estimate * step->units, -step->most_units, step->most_units));
}

// Where a patch lies, of its first voxel's index.
static inline void place_of(const Step* step, const long index, long* place) {
  const long row = quotient(index, step->size[0]);
  place[2] = quotient(row, step->size[1]);
  place[1] = row - place[2] * step->size[1];
  place[0] = index - row * step->size[0];
}

// Where a voxel's sums stand, in pairs.
static inline long held_index(const Step* step, const long x, const long y, const long z) {
  const long along = step->axis == 2 ? z : y;
  const long ring = step->held[step->axis];
  const long in_ring = along - quotient(along, ring) * ring;
  const long row = step->axis == 2 ? in_ring * step->held[1] + y : z * step->held[1] + in_ring;
  return row * step->held[0] + x;
}
