// denoise: what stands around the stacks of a step, the same for every variant. One work-item a voxel, but for "largest".
//
//   begin     the largest magnitude is 0
//   largest   work-items in strides over the volume, and the basic estimate; a group's maximum, then the device's
//   mean      of red, green and blue, in the voxels' own type: what is matched
//   clear     sums of the slices that a round reaches first
//   finish    sums of the slices that get no more: quotients, colours, voxels
//
// Compiles alone with: -DTYPE=0
// Compiles alone with: -DTYPE=1
// Compiles alone with: -DTYPE=2
#include "ops/denoise/denoise_volume.cl"

__kernel void denoise_begin(__global uint* largest, const ulong largest_first) {
  largest[largest_first + get_global_id(0)] = 0;
}

__kernel void denoise_largest(__global const element* volume, const ulong volume_first, __global const element* basic,
                              const ulong basic_first, __global uint* largest, const ulong largest_first,
                              const Step step) {
  __local uint group_largest;
  if (get_local_id(0) == 0) group_largest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#if TYPE == 2
  uint found = 0;
  const long count = volume_voxels(&step) * step.channels;
  for (long i = (long)get_global_id(0); i < count; i += (long)get_global_size(0)) {
    const float voxel = volume[volume_first + i];
    if (isfinite(voxel)) found = max(found, as_uint(fabs(voxel)));
    const float other = step.has_basic ? basic[basic_first + i] : 0.0f;
    if (isfinite(other)) found = max(found, as_uint(fabs(other)));
  }
  (void)atomic_max(&group_largest, found);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) (void)atomic_max(largest + largest_first, group_largest);
}

__kernel void denoise_mean(__global const element* volume, const ulong volume_first, __global element* mean,
                           const ulong mean_first, const Step step) {
  const long i = (long)get_global_id(0);
  const long voxels = volume_voxels(&step);
  if (i >= voxels) return;
  volume += volume_first + i;
#if TYPE == 2
  mean[mean_first + i] = ((volume[0] + volume[voxels]) + volume[2 * voxels]) * (1.0f / 3.0f);
#else
  mean[mean_first + i] = (element)(((uint)volume[0] + volume[voxels] + volume[2 * voxels] + 1) / 3);
#endif
}

// The work-item's voxel, in slices first_slice to end_slice. 0: it has none.
static inline int voxel_of_item(const Step* step, long* slice, long* x, long* y, long* z) {
  const long across = step->axis == 2 ? step->size[1] : step->size[2];
  const long item = (long)get_global_id(0);
  const long row = quotient(item, step->size[0]);
  const long number = quotient(row, across);
  *slice = step->first_slice + number;
  *x = item - row * step->size[0];
  *y = step->axis == 2 ? row - number * across : *slice;
  *z = step->axis == 2 ? *slice : row - number * across;
  return *slice < step->end_slice;
}

__kernel void denoise_clear(__global ulong* sums, const ulong sums_first, const Step step) {
  long slice, x, y, z;
  if (!voxel_of_item(&step, &slice, &x, &y, &z)) return;
  sums += sums_first + 2 * held_index(&step, x, y, z);
  for (long channel = 0; channel < step.channels; ++channel, sums += 2 * held_voxels(&step)) {
    sums[0] = 0;
    sums[1] = 0;
  }
}

// a / b to the nearest whole number, halves up; b is above 0.
static inline long nearest_quotient(const long a, const long b) {
  const long numerator = 2 * a + b;
  return numerator >= 0 ? quotient(numerator, 2 * b) : -quotient(-numerator + 2 * b - 1, 2 * b);
}

static inline element voxel_of_units(const Step* step, const long units, const int exponent) {
#if TYPE == 2
  return (float)units * power_of_two(exponent - step->fraction_bits);
#else
  const int shift = step->fraction_bits - exponent;
  const long nearest = (units + (1L << (shift - 1))) >> shift;
  return (element)clamp(nearest, 0L, (1L << (8 * (int)sizeof(element))) - 1);
#endif
}

// Of the hard threshold the basic estimate is the volume.
__kernel void denoise_finish(__global const element* volume, const ulong volume_first, __global const element* basic,
                             const ulong basic_first, __global element* result, const ulong result_first,
                             __global const uint* largest, const ulong largest_first, __global const ulong* sums,
                             const ulong sums_first, const Step step) {
  long slice, x, y, z;
  if (!voxel_of_item(&step, &slice, &x, &y, &z)) return;
  const long voxels = volume_voxels(&step);
  const long held = held_voxels(&step);
  const long voxel = (z * step.size[1] + y) * step.size[0] + x;
  volume += volume_first + voxel;
  basic += basic_first + voxel;
  result += result_first + voxel;
  sums += sums_first + 2 * held_index(&step, x, y, z);
  if (slice >= step.end_of_sums || sums[1] == 0) {
    for (long i = 0; i < step.channels * voxels; i += voxels) {
#if TYPE == 2
      result[i] = isfinite(volume[i]) && isfinite(basic[i]) ? basic[i] : volume[i];
#else
      result[i] = basic[i];
#endif
    }
    return;
  }
  long units[3] = {0, 0, 0};
  for (long channel = 0; channel < step.channels; ++channel)
    units[channel] = nearest_quotient((long)sums[2 * channel * held], (long)sums[2 * channel * held + 1]);
  if (step.channels == 3) {
    const long mean = 3 * units[0];
    const long apart = 3 * units[1];
    const long bend = 2 * units[2];
    units[0] = nearest_quotient(mean + apart + bend, 3);
    units[1] = nearest_quotient(mean - 2 * bend, 3);
    units[2] = nearest_quotient(mean - apart + bend, 3);
  }
  const int exponent = scale_exponent(largest + largest_first);
  for (long channel = 0; channel < step.channels; ++channel) {
    const element old = volume[channel * voxels];
#if TYPE == 2
    result[channel * voxels] = isfinite(old) ? voxel_of_units(&step, units[channel], exponent) : old;
#else
    result[channel * voxels] = voxel_of_units(&step, units[channel], exponent);
#endif
  }
}
