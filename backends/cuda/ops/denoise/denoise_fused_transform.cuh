// denoise, fused: a stack of a warp's threads, and its patches in shared memory times the matrices of their axes, and
// back. Of known sides a thread takes a whole patch into registers, through all axes; of others a line of a patch at a
// time, neighbours the same line of neighbouring patches. See denoise_fused.cu.
#pragma once

#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// Sides of a patch; 0: known at run time alone.
template <int kX, int kY, int kZ>
struct PatchOf {
  static constexpr bool kIsKnown = kX > 0;
  static constexpr int kVoxels = kX * kY * kZ;
  static constexpr int kSideX = kX;
  static constexpr int kSideY = kY;
  static constexpr int kSideZ = kZ;
};
using AnyPatch = PatchOf<0, 0, 0>;
using SquarePatch = PatchOf<8, 8, 1>;
using SquarePatchOf6 = PatchOf<6, 6, 1>;
using SquarePatchOf7 = PatchOf<7, 7, 1>;
using CubePatch = PatchOf<4, 4, 4>;

/// The thread's stack. kPlaces: most members, 0 where they are known at run time alone.
template <class Patch, int kPlaces>
struct FusedStack {
  static constexpr int kLanes = fused_lanes(kPlaces);
  static constexpr int kMostPlaces = kPlaces > 0 ? kPlaces : kDenoiseMostPlaces;

  const DenoiseArguments& d;
  int lane;
  int members;          ///< 0: there is none
  std::int64_t* first;  ///< of each patch: its first voxel
  std::int64_t* sum;    ///< that voxel's sums, in pairs
  int* slice;           ///< its slice's place in the ring
  float* numbers;
  float* guide;
  int* weights;

  __device__ FusedStack(const DenoiseArguments& denoise, std::int64_t reference, char* memory, bool is_wiener)
      : d(denoise), lane(static_cast<int>(threadIdx.x) % kLanes) {
    const bool is_there = reference < d.references;
    members = is_there ? filtered_members(d.counts[reference]) : 0;
    first = reinterpret_cast<std::int64_t*>(memory);
    sum = first + places();
    slice = reinterpret_cast<int*>(sum + places());
    numbers = reinterpret_cast<float*>(slice + places());
    guide = numbers + voxels() * pitch() + kFusedApart;
    weights = reinterpret_cast<int*>(is_wiener ? guide + voxels() * pitch() + kFusedApart : guide);
  }
  [[nodiscard]] __device__ __forceinline__ int places() const {
    return kPlaces > 0 ? kPlaces : static_cast<int>(d.places);
  }
  /// From a voxel's members to the next one's.
  [[nodiscard]] __device__ __forceinline__ int pitch() const { return places() + 1; }
  [[nodiscard]] __device__ __forceinline__ int voxels() const {
    return Patch::kIsKnown ? Patch::kVoxels : patch_voxels(d);
  }
  /// Places that loops over members go through.
  [[nodiscard]] __device__ __forceinline__ int counted() const { return kPlaces > 0 ? kPlaces : members; }
};

struct VoxelInPatch {
  int x;
  int y;
  int z;
};
template <class Patch>
[[nodiscard]] __device__ __forceinline__ VoxelInPatch voxel_in_patch(const DenoiseArguments& d, int v) {
  const int side_x = Patch::kIsKnown ? Patch::kSideX : static_cast<int>(d.patch[0]);
  const int side_y = Patch::kIsKnown ? Patch::kSideY : static_cast<int>(d.patch[1]);
  const int row = v / side_x;
  const int z = row / side_y;
  return {v - row * side_x, row - z * side_y, z};
}

/// A patch in registers along one axis, whose voxels are kApart from each other.
template <int kSide, int kApart, bool kIsInverse, int kVoxels>
__device__ __forceinline__ void transform_axis(const float (&matrix)[64], float (&patch)[kVoxels]) {
  if constexpr (kSide > 1) {
#pragma unroll
    for (int line = 0; line < kVoxels / kSide; ++line) {
      const int begin = line / kApart * kApart * kSide + line % kApart;
      float results[kSide];
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
        results[i] = times(matrix[kIsInverse ? i : i * kSide], patch[begin]);
#pragma unroll
        for (int j = 1; j < kSide; ++j) {
          const float factor = matrix[kIsInverse ? j * kSide + i : i * kSide + j];
          results[i] = plus(results[i], times(factor, patch[begin + j * kApart]));
        }
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i) patch[begin + i * kApart] = results[i];
    }
  }
}

/// Lines of patches in shared memory.
template <bool kIsInverse, class Stack>
__device__ __forceinline__ void transform_lines(const Stack& stack, int side, int apart, const float* matrix,
                                                float* numbers) {
  if (side == 1) return;
  const int lines = stack.voxels() / side;
  const int between = apart * stack.pitch();
  for (int i = stack.lane; i < lines << stack.d.place_bits; i += Stack::kLanes) {
    const int member = i & ((1 << stack.d.place_bits) - 1);
    if (member >= stack.members) continue;
    const int line = i >> stack.d.place_bits;
    const int block = line / apart;
    float* const first = numbers + (block * side * apart + line - block * apart) * stack.pitch() + member;
    float old[16];
    for (int j = 0; j < side; ++j) old[j] = first[j * between];
    for (int k = 0; k < side; ++k) {
      float sum = times(matrix[kIsInverse ? k : k * side], old[0]);
      for (int j = 1; j < side; ++j) sum = plus(sum, times(matrix[kIsInverse ? j * side + k : k * side + j], old[j]));
      first[k * between] = sum;
    }
  }
}

template <class Patch, bool kIsInverse, class Stack>
__device__ __forceinline__ void transform_patches(const Stack& stack, float* numbers) {
  const DenoiseArguments& d = stack.d;
  if constexpr (Patch::kIsKnown) {
    if (stack.lane < stack.members) {
      float patch[Patch::kVoxels];
#pragma unroll
      for (int v = 0; v < Patch::kVoxels; ++v) patch[v] = numbers[v * stack.pitch() + stack.lane];
      transform_axis<Patch::kSideX, 1, kIsInverse>(d.matrix, patch);
      transform_axis<Patch::kSideY, Patch::kSideX, kIsInverse>(d.matrix, patch);
      transform_axis<Patch::kSideZ, Patch::kSideX * Patch::kSideY, kIsInverse>(d.matrix, patch);
#pragma unroll
      for (int v = 0; v < Patch::kVoxels; ++v) numbers[v * stack.pitch() + stack.lane] = patch[v];
    }
  } else {
    const int x = static_cast<int>(d.patch[0]);
    const int y = static_cast<int>(d.patch[1]);
    transform_lines<kIsInverse>(stack, x, 1, matrix_of(d, 0), numbers);
    __syncwarp();
    transform_lines<kIsInverse>(stack, y, x, matrix_of(d, 1), numbers);
    __syncwarp();
    transform_lines<kIsInverse>(stack, static_cast<int>(d.patch[2]), x * y, matrix_of(d, 2), numbers);
  }
  __syncwarp();
}

}  // namespace tessera::cuda
