// denoise, staged: each stage of a round's stacks a launch, with memory between them. Stacks come from patch_match.
//
//   launch           a work-item's                  reads and writes
//   transform        patch of a stack               its voxels, once; its coefficients once for each axis
//   shrink           voxel of a stack's patches     that voxel's coefficient of all of them, once for each of Haar's levels
//   transform_back   patch of a stack               as transform
//   add              voxel of a patch of a stack    its estimate; the sums
//
//   coefficients     [ stack 0: patch 0: voxels | patch 1: voxels | ... ][ stack 1: ... ]
//   energies         what a stack keeps: of the hard threshold the count, of the Wiener filter the sum of the factors'
//                    squares in units of 2^-20; added to by all work-items of a stack
//
// Plain, and of devices it asks for nothing but OpenCL 1.2: quotients are made of whole numbers, sums of halves.
//
// Compiles alone with: -DTYPE=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
// Compiles alone with: -DTYPE=1 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
// Compiles alone with: -DTYPE=2 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_volume.cl"
#include "ops/denoise/denoise_sums.cl"
#include "ops/float_ratio.cl"

// The work-item's stack and which of its parts, of so many a stack. 0: it has none.
static inline int part_of_item(const Step* step, const long parts, long* stack, long* part) {
  const long item = (long)get_global_id(0);
  *stack = quotient(item, parts);
  *part = item - *stack * parts;
  return *stack < step->references;
}

// `count` numbers, `apart` from one to the next, times the matrix, or times what it is turned over.
static inline void transform_line(__global float* line, const long count, const long apart,
                                  __global const float* matrix, const int is_inverse) {
  float old[LARGEST_SIDE];
  for (long j = 0; j < count; ++j) old[j] = line[j * apart];
  for (long i = 0; i < count; ++i) {
    float sum = 0;
    for (long j = 0; j < count; ++j) {
      const float product = matrix[is_inverse ? j * count + i : i * count + j] * old[j];
      sum = j == 0 ? product : sum + product;
    }
    line[i * apart] = sum;
  }
}

static inline void transform_axis(__global float* patch, const long voxels, const long count, const long apart,
                                  __global const float* matrix, const int is_inverse) {
  if (count == 1) return;
  for (long block = 0; block < voxels; block += count * apart) {
    for (long i = 0; i < apart; ++i) transform_line(patch + block + i, count, apart, matrix, is_inverse);
  }
}

static inline void transform_patch(const Step* step, __global float* patch, __global const float* table,
                                   const int is_inverse) {
  const long voxels = patch_voxels(step);
  transform_axis(patch, voxels, step->patch[0], 1, table, is_inverse);
  transform_axis(patch, voxels, step->patch[1], step->patch[0], table + matrix_at(step, 1), is_inverse);
  transform_axis(patch, voxels, step->patch[2], step->patch[0] * step->patch[1], table + matrix_at(step, 2), is_inverse);
}

__kernel void denoise_transform(__global const element* source, const ulong source_first,
                                __global const element* instead, const ulong instead_first,
                                __global const float* table, __global const uint* largest, const ulong largest_first,
                                __global const int* counts, const ulong counts_first, __global const long* indices,
                                const ulong indices_first, __global float* coefficients, const ulong coefficients_first,
                                __global ulong* energies, const ulong energies_first, const Step step,
                                const int has_instead) {
  long stack, member;
  if (!part_of_item(&step, step.places, &stack, &member)) return;
  if (member == 0) energies[energies_first + stack] = 0;
  if (member >= filtered_members(counts[counts_first + stack])) return;
  const float scale = power_of_two(-scale_exponent(largest + largest_first));
  const long first = indices[indices_first + stack * step.places + member];
  __global float* const patch =
      coefficients + coefficients_first + (stack * step.places + member) * patch_voxels(&step);
  long v = 0;
  for (long z = 0; z < step.patch[2]; ++z) {
    for (long y = 0; y < step.patch[1]; ++y) {
      const long row = first + (z * step.size[1] + y) * step.size[0];
      for (long x = row; x < row + step.patch[0]; ++x, ++v)
        patch[v] = number_at(&step, source + source_first, instead + instead_first, has_instead, x, scale);
    }
  }
  transform_patch(&step, patch, table, 0);
}

// Haar's transform of one voxel's coefficients, which are `apart` from each other.
static inline void haar(__global float* stack, const long members, const long apart) {
  for (long distance = 1; distance < members; distance *= 2) {
    for (long i = 0; i < members; i += 2 * distance) HAAR_PAIR(stack[i * apart], stack[(i + distance) * apart]);
  }
}
static inline void haar_back(__global float* stack, const long members, const long apart) {
  for (long distance = members >> 1; distance >= 1; distance >>= 1) {
    for (long i = 0; i < members; i += 2 * distance) HAAR_PAIR(stack[i * apart], stack[(i + distance) * apart]);
  }
}

__kernel void denoise_shrink(__global const float* table, __global const uint* largest, const ulong largest_first,
                             __global const int* counts, const ulong counts_first, __global float* coefficients,
                             const ulong coefficients_first, __global float* guides, const ulong guides_first,
                             __global ulong* energies, const ulong energies_first, const Step step) {
  const long voxels = patch_voxels(&step);
  long stack, voxel;
  if (!part_of_item(&step, voxels, &stack, &voxel)) return;
  const long members = filtered_members(counts[counts_first + stack]);
  __global const float* const scales = table + scales_at(&step, scale_exponent(largest + largest_first));
  const long first = stack * step.places * voxels + voxel;
  __global float* const numbers = coefficients + coefficients_first + first;
  __global float* const guide = guides + guides_first + first;
  haar(numbers, members, voxels);
  if (step.has_basic) haar(guide, members, voxels);
  long energy = 0;
  for (long m = 0; m < members; ++m) {
    const float number = numbers[m * voxels];
    if (step.has_basic) {
      const float square = guide[m * voxels] * guide[m * voxels];
      const float factor = float_ratio(square, square + scales[1]);
      numbers[m * voxels] = number * factor;
      energy += convert_int_rte(factor * factor * WEIGHT_UNITS);
    } else {
      const int is_kept = fabs(number) > scales[0];
      numbers[m * voxels] = is_kept ? number : 0.0f;
      energy += is_kept;
    }
  }
  haar_back(numbers, members, voxels);
  add_to_sum(energies + energies_first + stack, energy);
}

__kernel void denoise_transform_back(__global const float* table, __global const int* counts, const ulong counts_first,
                                     __global float* coefficients, const ulong coefficients_first, const Step step) {
  long stack, member;
  if (!part_of_item(&step, step.places, &stack, &member)) return;
  if (member >= filtered_members(counts[counts_first + stack])) return;
  transform_patch(&step,
                  coefficients + coefficients_first + (stack * step.places + member) * patch_voxels(&step),
                  table, 1);
}

__kernel void denoise_add(__global const float* table, __global const int* counts, const ulong counts_first,
                          __global const long* indices, const ulong indices_first, __global const float* coefficients,
                          const ulong coefficients_first, __global const ulong* energies, const ulong energies_first,
                          __global ulong* sums, const ulong sums_first, const Step step) {
  const long voxels = patch_voxels(&step);
  long stack, part;
  if (!part_of_item(&step, step.places * voxels, &stack, &part)) return;
  const long member = quotient(part, voxels);
  const long v = part - member * voxels;
  if (member >= filtered_members(counts[counts_first + stack])) return;
  const long energy = (long)energies[energies_first + stack];
  const float units = step.has_basic ? 1.0f / WEIGHT_UNITS : 1.0f;
  const float weight = float_ratio(1.0f, fmax((float)energy * units, 1.0f));
  const int weighed = weight_units(weight, table[matrix_at(&step, 3) + v]);
  const int estimate =
      estimate_units(&step, coefficients[coefficients_first + (stack * step.places + member) * voxels + v]);
  long place[3];
  place_of(&step, indices[indices_first + stack * step.places + member], place);
  const long row = quotient(v, step.patch[0]);
  const long plane = quotient(row, step.patch[1]);
  const long sum = held_index(&step, place[0] + v - row * step.patch[0], place[1] + row - plane * step.patch[1],
                              place[2] + plane);
  sums += sums_first + 2 * (step.channel * held_voxels(&step) + sum);
  add_to_sum(sums, (long)weighed * estimate);
  add_to_sum(sums + 1, weighed);
}
