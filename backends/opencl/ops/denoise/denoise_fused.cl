// denoise, fused: LANES work-items filter a stack, from its voxels to the sums, STACKS stacks a group. Stacks come from
// patch_match, and of a round so many that their indices stay in the second-level cache.
//
//   volume              local memory                 A work-item gathers one voxel of every patch (neighbours read
//   [ ][ ][ ]           voxel 0: patch 0, 1, 2 ..    neighbours), transforms whole patches, takes one voxel's members
//   patches of  ------> voxel 1: patch 0, 1, 2 ..    through Haar's transform, the shrinking and back, transforms
//   a stack             ...      and one place more  patches back, and adds one voxel of every patch. Between these a
//                                                    barrier: nothing goes through the device's memory. A voxel's
//   sums <------------- estimates                    members take an odd number of places, so that neither those of
//                                                    one voxel nor the voxels of one patch meet in a bank.
//
// The Wiener filter has the basic estimate's patches in a second array. Sums are added to by pairs of work-items, one for
// the estimate, one for the weight, so that a row of a patch is one stretch of memory.
//
//   PLACES   0: stacks of any length and patches of any sides, whose numbers the launch tells. Matrices are multiplied
//               with in local memory, line by line. Few programs, which processors compile soon.
//            else: most members of a stack, and SIDE_X, SIDE_Y and SIDE_Z with a product of up to 64: patches and
//               stacks lie in registers while they are transformed, all loops are unrolled, and the one matrix, the same
//               for all axes that are longer than a voxel, is an argument, which GPUs read as constants.
//
// Compiles alone with: -DTYPE=0 -DLANES=16 -DSTACKS=1 -DPLACES=0 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=1 -DLANES=32 -DSTACKS=2 -DPLACES=32 -DSIDE_X=8 -DSIDE_Y=8 -DSIDE_Z=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DLANES=16 -DSTACKS=4 -DPLACES=16 -DSIDE_X=4 -DSIDE_Y=4 -DSIDE_Z=4 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_fused_transform.cl"
#include "ops/denoise/denoise_sums.cl"
#include "ops/float_ratio.cl"

// What a group keeps of its stacks' patches.
typedef struct {
  long first[STACKS][MOST_PLACES];  // voxel of the volume
  long sum[STACKS][MOST_PLACES];    // that voxel's sums, in pairs
  int slice[STACKS][MOST_PLACES];   // its slice's place in the ring
  long energies[STACKS][LANES];     // what each work-item's voxels keep
} Places;

// A voxel of a patch, along each axis.
static inline void voxel_in_patch(const Step* step, const int v, int* at) {
#if PLACES > 0
  at[0] = v % SIDE_X;
  at[1] = v / SIDE_X % SIDE_Y;
  at[2] = v / (SIDE_X * SIDE_Y);
#else
  const int row = small_quotient(v, (int)step->patch[0]);
  at[2] = small_quotient(row, (int)step->patch[1]);
  at[1] = row - at[2] * (int)step->patch[1];
  at[0] = v - row * (int)step->patch[0];
#endif
}

static inline void find_places(const Step* step, const Stack* stack, __global const long* indices, __local long* first,
                               __local long* sum, __local int* slice) {
  for (int m = stack->lane; m < stack->members; m += LANES) {
    long place[3];
    place_of(step, indices[m], place);
    const long ring = step->held[step->axis];
    const long along = place[step->axis];
    first[m] = indices[m];
    sum[m] = held_index(step, place[0], place[1], place[2]);
    slice[m] = (int)(along - quotient(along, ring) * ring);
  }
}

static inline void load_patches(const Step* step, const Stack* stack, __local const long* first,
                                __global const element* source, __global const element* instead, const int has_instead,
                                const float scale, __local float* numbers) {
  for (int v = stack->lane; v < VOXELS; v += LANES) {
    int at[3];
    voxel_in_patch(step, v, at);
    const long offset = (at[2] * step->size[1] + at[1]) * step->size[0] + at[0];
    for (int m = 0; m < stack->members; ++m)
      numbers[v * PITCH + m] = number_at(step, source, instead, has_instead, first[m] + offset, scale);
  }
}

// A voxel's members. Those behind the last are 0 and meet no other.
static inline void load_members(const Stack* stack, __local const float* numbers, float* members) {
  UNROLLED for (int m = 0; m < MEMBERS(stack); ++m) members[m] = m < stack->members ? numbers[m] : 0.0f;
}
static inline void store_members(const Stack* stack, const float* members, __local float* numbers) {
  UNROLLED for (int m = 0; m < MEMBERS(stack); ++m) {
    if (m < stack->members) numbers[m] = members[m];
  }
}

#define HAAR_LEVEL(distance)                                                              \
  if ((distance) < MOST_PLACES && (distance) < stack->members) {                          \
    UNROLLED for (int i = 0; i + (distance) < MEMBERS(stack); i += 2 * (distance)) {      \
      HAAR_PAIR(members[i], members[i + (distance)]);                                     \
    }                                                                                     \
  }

static inline void haar(const Stack* stack, float* members) {
  HAAR_LEVEL(1)
  HAAR_LEVEL(2)
  HAAR_LEVEL(4)
  HAAR_LEVEL(8)
  HAAR_LEVEL(16)
  HAAR_LEVEL(32)
}
static inline void haar_back(const Stack* stack, float* members) {
  HAAR_LEVEL(32)
  HAAR_LEVEL(16)
  HAAR_LEVEL(8)
  HAAR_LEVEL(4)
  HAAR_LEVEL(2)
  HAAR_LEVEL(1)
}

// Shrinks the work-item's voxels; what it keeps of them.
static inline long keep_large(const Step* step, const Stack* stack, const float threshold, __local float* numbers) {
  long kept = 0;
  for (int v = stack->lane; v < VOXELS; v += LANES) {
    float members[MOST_PLACES];
    load_members(stack, numbers + v * PITCH, members);
    haar(stack, members);
    UNROLLED for (int m = 0; m < MEMBERS(stack); ++m) {
      const int is_kept = fabs(members[m]) > threshold;
      members[m] = is_kept ? members[m] : 0.0f;
      kept += is_kept;
    }
    haar_back(stack, members);
    store_members(stack, members, numbers + v * PITCH);
  }
  return kept;
}

static inline long weigh(const Step* step, const Stack* stack, const float variance, __local float* numbers,
                         __local float* guide) {
  long energy = 0;
  for (int v = stack->lane; v < VOXELS; v += LANES) {
    float factors[MOST_PLACES];
    load_members(stack, guide + v * PITCH, factors);
    haar(stack, factors);
    UNROLLED for (int m = 0; m < MEMBERS(stack); ++m) {
      const float square = factors[m] * factors[m];
      factors[m] = float_ratio(square, square + variance);
      energy += convert_int_rte(factors[m] * factors[m] * WEIGHT_UNITS);
    }
    float members[MOST_PLACES];
    load_members(stack, numbers + v * PITCH, members);
    haar(stack, members);
    UNROLLED for (int m = 0; m < MEMBERS(stack); ++m) members[m] *= factors[m];
    haar_back(stack, members);
    store_members(stack, members, numbers + v * PITCH);
  }
  return energy;
}

// The window's weights of a stack that keeps so much, as whole numbers.
static inline void weigh_window(const Step* step, const Stack* stack, __local const long* energies, const float unit,
                                __global const float* table, __local int* weights) {
  long energy = 0;
  for (int i = 0; i < LANES; ++i) energy += energies[i];
  const float weight = float_ratio(1.0f, fmax((float)energy * unit, 1.0f));
  __global const float* const window = table + matrix_at(step, 3);
  for (int v = stack->lane; v < VOXELS; v += LANES) weights[v] = weight_units(weight, window[v]);
}

static inline void add_estimates(const Step* step, const Stack* stack, __local const long* sum, __local const int* slice,
                                 __local const float* numbers, __local const int* weights, __global ulong* sums) {
  const int ring = (int)step->held[step->axis];
  const long of_slice = step->axis == 2 ? step->held[0] * step->held[1] : step->held[0];
  for (int part = stack->lane; part < 2 * VOXELS; part += LANES) {
    const int v = part >> 1;
    const int is_weight = part & 1;
    int at[3];
    voxel_in_patch(step, v, at);
    const long offset = (at[2] * step->held[1] + at[1]) * step->held[0] + at[0];
    const int along = step->axis == 2 ? at[2] : at[1];
    const int weight = weights[v];
    for (int m = 0; m < stack->members; ++m) {
      const long wrapped = slice[m] + along >= ring ? ring * of_slice : 0;
      const int estimate = is_weight ? 1 : estimate_units(step, numbers[v * PITCH + m]);
      add_to_sum(sums + 2 * (sum[m] + offset - wrapped) + is_weight, (long)weight * estimate);
    }
  }
}

#define FUSED_PARAMETERS                                                                                               \
  __global const element *volume, const ulong volume_first, __global const element *basic, const ulong basic_first,    \
      __global const float *table, __global const uint *largest, const ulong largest_first, __global const int *counts, \
      const ulong counts_first, __global const long *indices, const ulong indices_first, __global ulong *sums,         \
      const ulong sums_first, __local float *memory

// `memory`: of each stack its numbers, those of the basic estimate, and its weights.
static inline void filter_stacks(FUSED_PARAMETERS, const Step* step, const Matrix* matrix, const int has_basic,
                                 __local Places* places) {
  const int number = (int)get_local_id(0) / LANES;
  const long reference = (long)get_group_id(0) * STACKS + number;
  Stack stack;
  stack.lane = (int)get_local_id(0) % LANES;
  stack.members = reference < step->references ? (int)filtered_members(counts[counts_first + reference]) : 0;
  // Of two stacks in a warp one is moved by half of the banks.
  const int of_numbers = VOXELS * PITCH + 16;
  __local float* const numbers = memory + number * ((has_basic ? 2 : 1) * of_numbers + VOXELS);
  __local float* const guide = numbers + of_numbers;
  __local int* const weights = (__local int*)(numbers + (has_basic ? 2 : 1) * of_numbers);
  const int exponent = scale_exponent(largest + largest_first);
  const float scale = power_of_two(-exponent);
  __global const float* const scales = table + scales_at(step, exponent);
  volume += volume_first;
  basic += basic_first;

  find_places(step, &stack, indices + indices_first + reference * step->places, places->first[number],
              places->sum[number], places->slice[number]);
  barrier(CLK_LOCAL_MEM_FENCE);
  load_patches(step, &stack, places->first[number], volume, basic, has_basic, scale, numbers);
  if (has_basic) load_patches(step, &stack, places->first[number], basic, basic, 0, scale, guide);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (has_basic) transform_patches(step, &stack, table, matrix, 0, guide);
  transform_patches(step, &stack, table, matrix, 0, numbers);
  places->energies[number][stack.lane] =
      has_basic ? weigh(step, &stack, scales[1], numbers, guide) : keep_large(step, &stack, scales[0], numbers);
  barrier(CLK_LOCAL_MEM_FENCE);
  weigh_window(step, &stack, places->energies[number], has_basic ? 1.0f / WEIGHT_UNITS : 1.0f, table, weights);
  transform_patches(step, &stack, table, matrix, 1, numbers);
  add_estimates(step, &stack, places->sum[number], places->slice[number], numbers, weights,
                sums + sums_first + 2 * step->channel * held_voxels(step));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void denoise_fused_hard(FUSED_PARAMETERS, const Step step,
                                                                                    const Matrix matrix) {
  __local Places places;
  filter_stacks(volume, volume_first, basic, basic_first, table, largest, largest_first, counts, counts_first, indices,
                indices_first, sums, sums_first, memory, &step, &matrix, 0, &places);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void denoise_fused_wiener(FUSED_PARAMETERS, const Step step,
                                                                                      const Matrix matrix) {
  __local Places places;
  filter_stacks(volume, volume_first, basic, basic_first, table, largest, largest_first, counts, counts_first, indices,
                indices_first, sums, sums_first, memory, &step, &matrix, 1, &places);
}
