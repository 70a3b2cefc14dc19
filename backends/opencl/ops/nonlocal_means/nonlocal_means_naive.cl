// nonlocal_means, naive: one work-item a voxel. Every operation is the definition's (docs/decisions/0020).
//
//   begin     the largest magnitude is 0; of floats alone, as the next
//   largest   work-items in strides over the volume; a group's maximum, then the device's
//   numbers   one work-item a voxel of the volume with its mirrored borders: a whole number of 32 bits
//   naive     numbers with borders                              A work-item compares its patch with every candidate's,
//             +-------------------+                             number by number from global memory: through the
//             | m +-window-+   m  |  distance -> weight ->      caches, where neighbours find what they share. What
//             | m | i  j   |   m  |  sums of 64 bits            a distance weighs is looked up in a table of 16 KB.
//             | m +--------+   m  |
//             +-------------------+
//
//   TYPE NARROW   element   distance   Sums of squares of bytes fit into 32 bits.
//   0    1        uchar     uint
//   1    0        ushort    ulong
//   2    0        float     ulong
//
// Compiles alone with: -DTYPE=0 -DNARROW=1
// Compiles alone with: -DTYPE=1 -DNARROW=0
// Compiles alone with: -DTYPE=2 -DNARROW=0
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
#if NARROW
typedef uint squares;
#else
typedef ulong squares;
#endif

// As mathematics/nonlocal_means_numbers.h has them.
#define VOXEL_BITS 19
#define NO_VOXEL (1 << 26)
#define WEIGHTS 4096
#define LEAST_EXPONENT (-100)
#define MOST_EXPONENT 128
#define MOST_BORDER 256

// Of each axis, x first: MeansAxis.
typedef struct {
  long size[3], before[3], behind[3], patch[3], patch_before[3];
  long channels;
  ulong reach;  // a distance above it weighs nothing
} Means;
SIZE_ON_THE_HOST(Means, 136);

static inline long with_borders(const Means* means, const int axis) {
  return means->size[axis] + means->patch[axis] - 1;
}
static inline long voxels_with_borders(const Means* means) {
  return with_borders(means, 0) * with_borders(means, 1) * with_borders(means, 2);
}
static inline long voxels_of(const Means* means) {
  return means->size[0] * means->size[1] * means->size[2];
}

// That of the scale: voxels are whole numbers of 2^(exponent - VOXEL_BITS). Integers stay as they are.
static inline int scale_exponent(__global const uint* largest) {
#if TYPE == 2
  return *largest == 0 ? 0 : clamp((int)(*largest >> 23) - 126, LEAST_EXPONENT, MOST_EXPONENT);
#else
  return LEAST_EXPONENT;
#endif
}
static inline float power_of_two(const int exponent) {
  return as_float((uint)(exponent + 127) << 23);
}

__kernel void nonlocal_means_begin(__global uint* largest, const ulong largest_first, const Means means) {
  if (get_global_id(0) == 0) largest[largest_first] = 0;
}

__kernel void nonlocal_means_largest(__global const element* volume, const ulong volume_first, __global uint* largest,
                                     const ulong largest_first, const Means means) {
  __local uint group_largest;
  if (get_local_id(0) == 0) group_largest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#if TYPE == 2
  uint found = 0;
  const long count = voxels_of(&means) * means.channels;
  for (long i = (long)get_global_id(0); i < count; i += (long)get_global_size(0)) {
    const float voxel = volume[volume_first + i];
    if (isfinite(voxel)) found = max(found, as_uint(fabs(voxel)));
  }
  (void)atomic_max(&group_largest, found);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) (void)atomic_max(largest + largest_first, group_largest);
}

// The voxel that one with borders is.
static inline long mirrored(const Means* means, const int axis, const long bordered) {
  const long turn = 2 * means->size[axis];
  const long from = bordered - means->patch_before[axis] + MOST_BORDER * turn;
  const long place = from - quotient(from, turn) * turn;
  return place < means->size[axis] ? place : turn - 1 - place;
}

__kernel void nonlocal_means_numbers(__global const element* volume, const ulong volume_first, __global int* numbers,
                                     const ulong numbers_first, __global const uint* largest, const ulong largest_first,
                                     const Means means) {
  const long item = (long)get_global_id(0);
  if (item >= voxels_with_borders(&means) * means.channels) return;
  const long row = quotient(item, with_borders(&means, 0));
  const long plane = quotient(row, with_borders(&means, 1));
  const long channel = quotient(plane, with_borders(&means, 2));
  const long x = mirrored(&means, 0, item - row * with_borders(&means, 0));
  const long y = mirrored(&means, 1, row - plane * with_borders(&means, 1));
  const long z = mirrored(&means, 2, plane - channel * with_borders(&means, 2));
  const element voxel =
      volume[volume_first + ((channel * means.size[2] + z) * means.size[1] + y) * means.size[0] + x];
#if TYPE == 2
  const float scale = power_of_two(VOXEL_BITS - scale_exponent(largest + largest_first));
  numbers[numbers_first + item] = isfinite(voxel) ? convert_int_rte(voxel * scale) : NO_VOXEL;
#else
  numbers[numbers_first + item] = voxel;
#endif
}

static inline squares distance_of(const Means* means, __global const int* a, __global const int* b) {
  squares sum = 0;
  for (long channel = 0; channel < means->channels; ++channel) {
    for (long z = 0; z < means->patch[2]; ++z) {
      for (long y = 0; y < means->patch[1]; ++y) {
        const long plane = channel * with_borders(means, 2) + z;
        const long first = (plane * with_borders(means, 1) + y) * with_borders(means, 0);
        for (long x = first; x < first + means->patch[0]; ++x) {
          // Of integers up to 16 bits, whose square fits into 32.
          const uint apart = abs_diff(a[x], b[x]);
          sum += TYPE == 2 ? (squares)apart * apart : (squares)(apart * apart);
        }
      }
    }
  }
  return sum;
}

// The sum of weighted candidates over that of weights, to the nearest, halves up.
static inline element mean_of(const long sum, const long weights, const int exponent) {
  const long numerator = 2 * sum + weights;
#if TYPE == 2
  const long mean = numerator >= 0 ? quotient(numerator, 2 * weights)
                                   : -quotient(-numerator + 2 * weights - 1, 2 * weights);
  return clamp((float)mean * power_of_two(exponent - VOXEL_BITS), -FLT_MAX, FLT_MAX);
#else
  return (element)quotient(numerator, 2 * weights);
#endif
}

__kernel void nonlocal_means_naive(__global const element* volume, const ulong volume_first, __global element* result,
                                   const ulong result_first, __global const int* numbers, const ulong numbers_first,
                                   __global const uint* largest, const ulong largest_first, const Means means,
                                   __global const uint* table) {
  const long item = (long)get_global_id(0);
  if (item >= voxels_of(&means)) return;
  const long row = quotient(item, means.size[0]);
  const long plane = quotient(row, means.size[1]);
  const long at[3] = {item - row * means.size[0], row - plane * means.size[1], plane};
  long first[3], last[3];
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = max(at[axis] - means.before[axis], 0L);
    last[axis] = min(at[axis] + means.behind[axis], means.size[axis] - 1);
  }
  const int exponent = scale_exponent(largest + largest_first);
  __global const uint* scale = table + WEIGHTS + 3 * (exponent - LEAST_EXPONENT);
  const ulong noise = (ulong)scale[1] << 32 | scale[0];
  const float steps = as_float(scale[2]);
  numbers += numbers_first;
  __global const int* patch =
      numbers + (at[2] * with_borders(&means, 1) + at[1]) * with_borders(&means, 0) + at[0];
  const long middle = (means.patch_before[2] * with_borders(&means, 1) + means.patch_before[1]) *
                          with_borders(&means, 0) + means.patch_before[0];
  ulong weights = 0;
  ulong sums[3] = {0, 0, 0};
  for (long z = first[2]; z <= last[2]; ++z) {
    for (long y = first[1]; y <= last[1]; ++y) {
      for (long x = first[0]; x <= last[0]; ++x) {
        __global const int* candidate = numbers + (z * with_borders(&means, 1) + y) * with_borders(&means, 0) + x;
        const ulong distance = distance_of(&means, patch, candidate);
        if (distance > means.reach) continue;
        const float above = distance > noise ? (float)(distance - noise) : 0.0f;
        const uint weight = table[(uint)min(above * steps, (float)(WEIGHTS - 1))];
        weights += weight;
        for (long channel = 0; channel < means.channels; ++channel)
          sums[channel] += (ulong)((long)weight * candidate[middle + channel * voxels_with_borders(&means)]);
      }
    }
  }
  for (long channel = 0; channel < means.channels; ++channel) {
    const ulong i = (ulong)(channel * voxels_of(&means) + item);
    const element voxel = volume[volume_first + i];
#if TYPE == 2
    if (!isfinite(voxel)) {
      result[result_first + i] = voxel;
      continue;
    }
#endif
    result[result_first + i] = mean_of((long)sums[channel], (long)weights, exponent);
  }
}
