// denoise, staged: each stage of a round's stacks a launch, with memory between them. Stacks come from patch_match.
//
//   launch           a thread's                     reads and writes
//   transform        patch of a stack               its voxels, once; its coefficients once for each axis
//   shrink           voxel of a stack's patches     that voxel's coefficient of all of them, once for each of Haar's levels
//   transform_back   patch of a stack               as transform
//   add              voxel of a patch of a stack    its estimate; the sums
//
//   coefficients     [ stack 0: patch 0: voxels | patch 1: voxels | ... ][ stack 1: ... ]
//   energies         what a stack keeps: of the hard threshold the count, of the Wiener filter the sum of the factors'
//                    squares in units of 2^-20; added to by all threads of a stack
#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// The thread's stack, and which of its parts, of so many a stack.
struct StagedPart {
  std::int64_t stack;
  int part;
  __device__ StagedPart(std::int64_t parts) {
    const std::int64_t number = thread_number();
    stack = number / parts;
    part = static_cast<int>(number - stack * parts);
  }
};

__device__ __forceinline__ float* patch_of(const DenoiseArguments& d, const StagedPart& at) {
  return d.coefficients + (at.stack * d.places + at.part) * patch_voxels(d);
}

/// `count` numbers, `apart` from one to the next, times the matrix, or times what it is turned over.
__device__ __forceinline__ void transform_line(float* line, int count, int apart, const float* matrix,
                                               bool is_inverse) {
  float old[16];
  for (int j = 0; j < count; ++j) old[j] = line[j * apart];
  for (int i = 0; i < count; ++i) {
    float sum = times(matrix[is_inverse ? i : i * count], old[0]);
    for (int j = 1; j < count; ++j) sum = plus(sum, times(matrix[is_inverse ? j * count + i : i * count + j], old[j]));
    line[i * apart] = sum;
  }
}

__device__ __forceinline__ void transform_patch(const DenoiseArguments& d, float* patch, bool is_inverse) {
  const int voxels = patch_voxels(d);
  int apart = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int count = static_cast<int>(d.patch[axis]);
    const float* const matrix = matrix_of(d, axis);
    for (int block = 0; block < voxels && count > 1; block += count * apart) {
      for (int i = 0; i < apart; ++i) transform_line(patch + block + i, count, apart, matrix, is_inverse);
    }
    apart *= count;
  }
}

template <class T>
__device__ __forceinline__ void transform(const DenoiseArguments& d) {
  const StagedPart at(d.places);
  if (at.stack >= d.references) return;
  if (at.part == 0) d.energies[at.stack] = 0;
  if (at.part >= filtered_members(d.counts[at.stack])) return;
  const float scale = power_of_two(-scale_exponent<T>(d));
  const std::int64_t first = d.indices[at.stack * d.places + at.part];
  float* const patch = patch_of(d, at);
  int v = 0;
  for (std::int64_t z = 0; z < d.patch[2]; ++z) {
    for (std::int64_t y = 0; y < d.patch[1]; ++y) {
      const std::int64_t row = first + (z * d.size[1] + y) * d.size[0];
      for (std::int64_t x = row; x < row + d.patch[0]; ++x, ++v)
        patch[v] =
            number_at(d, static_cast<const T*>(d.source), static_cast<const T*>(d.basic), d.has_instead != 0, x, scale);
    }
  }
  transform_patch(d, patch, false);
}

/// Haar's transform of one voxel's coefficients, which are `apart` from each other.
__device__ __forceinline__ void haar(float* stack, int members, int apart) {
  for (int distance = 1; distance < members; distance *= 2) {
    for (int i = 0; i < members; i += 2 * distance) haar_pair(stack[i * apart], stack[(i + distance) * apart]);
  }
}
__device__ __forceinline__ void haar_back(float* stack, int members, int apart) {
  for (int distance = members / 2; distance >= 1; distance /= 2) {
    for (int i = 0; i < members; i += 2 * distance) haar_pair(stack[i * apart], stack[(i + distance) * apart]);
  }
}

template <class T>
__device__ __forceinline__ void shrink(const DenoiseArguments& d) {
  const int voxels = patch_voxels(d);
  const StagedPart at(voxels);
  if (at.stack >= d.references) return;
  const int members = filtered_members(d.counts[at.stack]);
  const float* const scales = scales_of(d, scale_exponent<T>(d));
  const std::int64_t first = at.stack * d.places * voxels + at.part;
  float* const numbers = d.coefficients + first;
  float* const guide = d.guide + first;
  haar(numbers, members, voxels);
  if (d.has_basic != 0) haar(guide, members, voxels);
  std::int64_t energy = 0;
  for (int m = 0; m < members; ++m) {
    const float number = numbers[m * voxels];
    if (d.has_basic != 0) {
      const float square = times(guide[m * voxels], guide[m * voxels]);
      const float factor = over(square, plus(square, scales[1]));
      numbers[m * voxels] = times(number, factor);
      energy += factor_units(factor);
    } else {
      const bool is_kept = fabsf(number) > scales[0];
      numbers[m * voxels] = is_kept ? number : 0.0F;
      energy += is_kept ? 1 : 0;
    }
  }
  haar_back(numbers, members, voxels);
  add_to_sum(d.energies + at.stack, energy);
}

__device__ __forceinline__ void transform_back(const DenoiseArguments& d) {
  const StagedPart at(d.places);
  if (at.stack >= d.references || at.part >= filtered_members(d.counts[at.stack])) return;
  transform_patch(d, patch_of(d, at), true);
}

__device__ __forceinline__ void add_estimates(const DenoiseArguments& d) {
  const int voxels = patch_voxels(d);
  const StagedPart at(d.places * voxels);
  if (at.stack >= d.references) return;
  const int member = at.part / voxels;
  const int v = at.part - member * voxels;
  if (member >= filtered_members(d.counts[at.stack])) return;
  const float unit = d.has_basic != 0 ? 1 / kDenoiseWeightUnits : 1.0F;
  const float weight = stack_weight(static_cast<std::int64_t>(d.energies[at.stack]), unit);
  const std::int64_t weighed = weight_units(weight, window_of(d)[v]);
  const std::int64_t estimate = estimate_units(d, d.coefficients[at.stack * d.places * voxels + at.part]);
  DenoisePlace place = place_of(d, d.indices[at.stack * d.places + member]);
  const int row = v / static_cast<int>(d.patch[0]);
  const int plane = row / static_cast<int>(d.patch[1]);
  place.x += v - row * d.patch[0];
  place.y += row - plane * d.patch[1];
  place.z += plane;
  std::uint64_t* const sum = d.sums + 2 * (d.channel * held_voxels(d) + held_index(d, place));
  add_to_sum(sum, weighed * estimate);
  add_to_sum(sum + 1, weighed);
}

}  // namespace tessera::cuda

extern "C" __global__ void tessera_denoise_transform_back(
    const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {
  tessera::cuda::transform_back(denoise);
}
extern "C" __global__ void tessera_denoise_add(const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {
  tessera::cuda::add_estimates(denoise);
}

#define TESSERA_DENOISE_STAGED(Voxel, name)                              \
  extern "C" __global__ void tessera_denoise_transform_##name(           \
      const __grid_constant__ tessera::cuda::DenoiseArguments denoise) { \
    tessera::cuda::transform<Voxel>(denoise);                            \
  }                                                                      \
  extern "C" __global__ void tessera_denoise_shrink_##name(              \
      const __grid_constant__ tessera::cuda::DenoiseArguments denoise) { \
    tessera::cuda::shrink<Voxel>(denoise);                               \
  }
TESSERA_DENOISE_TYPES(TESSERA_DENOISE_STAGED)
