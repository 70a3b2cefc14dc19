// denoise, fused: one stack of a warp's threads, or of half of them. See denoise_fused.cu.
#pragma once

#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// Sides of a patch; 0: known at run time alone.
template <int kX, int kY, int kZ>
struct PatchOf {
  static constexpr bool kIsKnown = kX > 0;
  static constexpr int kSideX = kX;
  static constexpr int kSideY = kY;
  static constexpr int kSideZ = kZ;
};
using AnyPatch = PatchOf<0, 0, 0>;
using SquarePatch = PatchOf<8, 8, 1>;
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
  [[nodiscard]] __device__ __forceinline__ int voxels() const { return Patch::kIsKnown ? 64 : patch_voxels(d); }
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

template <class Stack>
__device__ __forceinline__ void find_places(const Stack& stack, const std::int64_t* indices) {
  for (int m = stack.lane; m < stack.members; m += Stack::kLanes) {
    const DenoisePlace at = place_of(stack.d, indices[m]);
    stack.first[m] = indices[m];
    stack.sum[m] = held_index(stack.d, at);
    stack.slice[m] = static_cast<int>(in_ring(stack.d, stack.d.axis == 2 ? at.z : at.y));
  }
}

template <class T, class Patch, class Stack>
__device__ __forceinline__ void load_patches(const Stack& stack, const T* source, const T* instead, bool has_instead,
                                             float scale, float* numbers) {
  const DenoiseArguments& d = stack.d;
  for (int v = stack.lane; v < stack.voxels(); v += Stack::kLanes) {
    const VoxelInPatch at = voxel_in_patch<Patch>(d, v);
    const std::int64_t offset = (at.z * d.size[1] + at.y) * d.size[0] + at.x;
#pragma unroll 4
    for (int m = 0; m < stack.members; ++m)
      numbers[v * stack.pitch() + m] = number_at(d, source, instead, has_instead, stack.first[m] + offset, scale);
  }
}

/// A patch in registers along one axis, whose voxels are kApart from each other.
template <int kSide, int kApart, bool kIsInverse>
__device__ __forceinline__ void transform_axis(const float (&matrix)[64], float (&patch)[64]) {
  if constexpr (kSide > 1) {
#pragma unroll
    for (int line = 0; line < 64 / kSide; ++line) {
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
      float patch[64];
#pragma unroll
      for (int v = 0; v < 64; ++v) patch[v] = numbers[v * stack.pitch() + stack.lane];
      transform_axis<Patch::kSideX, 1, kIsInverse>(d.matrix, patch);
      transform_axis<Patch::kSideY, Patch::kSideX, kIsInverse>(d.matrix, patch);
      transform_axis<Patch::kSideZ, Patch::kSideX * Patch::kSideY, kIsInverse>(d.matrix, patch);
#pragma unroll
      for (int v = 0; v < 64; ++v) numbers[v * stack.pitch() + stack.lane] = patch[v];
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

/// One voxel's members. Those behind the last are 0 and meet no other.
template <class Stack>
class StackMembers {
 public:
  __device__ __forceinline__ StackMembers(const Stack& stack, const float* from) : stack_(stack) {
#pragma unroll
    for (int m = 0; m < stack_.counted(); ++m) numbers_[m] = m < stack_.members ? from[m] : 0.0F;
  }
  __device__ __forceinline__ void store(float* to) const {
#pragma unroll
    for (int m = 0; m < stack_.counted(); ++m) {
      if (m < stack_.members) to[m] = numbers_[m];
    }
  }
  __device__ __forceinline__ float& operator[](int member) {
    return numbers_[member];
  }
  __device__ __forceinline__ void haar() {
    level<1>(), level<2>(), level<4>(), level<8>(), level<16>(), level<32>();
  }
  __device__ __forceinline__ void haar_back() {
    level<32>(), level<16>(), level<8>(), level<4>(), level<2>(), level<1>();
  }

 private:
  template <int kDistance>
  __device__ __forceinline__ void level() {
    if constexpr (kDistance < Stack::kMostPlaces) {
      if (kDistance >= stack_.members) return;
#pragma unroll
      for (int i = 0; i + kDistance < stack_.counted(); i += 2 * kDistance)
        haar_pair(numbers_[i], numbers_[i + kDistance]);
    }
  }

  const Stack& stack_;
  float numbers_[Stack::kMostPlaces];
};

/// Shrinks the thread's voxels; returns what it keeps of them.
template <bool kIsWiener, class Stack>
[[nodiscard]] __device__ __forceinline__ std::int64_t shrink_voxels(const Stack& stack, const float* scales) {
  std::int64_t energy = 0;
#pragma unroll 1
  for (int v = stack.lane; v < stack.voxels(); v += Stack::kLanes) {
    float* const at = stack.numbers + v * stack.pitch();
    if constexpr (kIsWiener) {
      StackMembers<Stack> factors(stack, stack.guide + v * stack.pitch());
      factors.haar();
#pragma unroll
      for (int m = 0; m < stack.counted(); ++m) {
        const float square = times(factors[m], factors[m]);
        factors[m] = over(square, plus(square, scales[1]));
        energy += factor_units(factors[m]);
      }
      StackMembers<Stack> members(stack, at);
      members.haar();
#pragma unroll
      for (int m = 0; m < stack.counted(); ++m) members[m] = times(members[m], factors[m]);
      members.haar_back();
      members.store(at);
    } else {
      StackMembers<Stack> members(stack, at);
      members.haar();
#pragma unroll
      for (int m = 0; m < stack.counted(); ++m) {
        const bool is_kept = fabsf(members[m]) > scales[0];
        members[m] = is_kept ? members[m] : 0.0F;
        energy += is_kept ? 1 : 0;
      }
      members.haar_back();
      members.store(at);
    }
  }
  return energy;
}

/// Of all of a stack's threads.
template <int kLanes>
[[nodiscard]] __device__ __forceinline__ std::int64_t sum_of_lanes(std::int64_t number) {
#pragma unroll
  for (int apart = kLanes / 2; apart > 0; apart /= 2) number += __shfl_xor_sync(0xffffffffU, number, apart);
  return number;
}

template <class Patch, class Stack>
__device__ __forceinline__ void add_estimates(const Stack& stack) {
  const DenoiseArguments& d = stack.d;
  std::uint64_t* const sums = d.sums + 2 * d.channel * held_voxels(d);
  const auto ring = static_cast<int>(d.axis == 2 ? d.held[2] : d.held[1]);
  const std::int64_t whole = ring * (d.axis == 2 ? d.held[0] * d.held[1] : d.held[0]);
  for (int part = stack.lane; part < 2 * stack.voxels(); part += Stack::kLanes) {
    const int v = part / 2;
    const bool is_weight = part % 2 != 0;
    const VoxelInPatch at = voxel_in_patch<Patch>(d, v);
    const std::int64_t offset = (at.z * d.held[1] + at.y) * d.held[0] + at.x;
    const int along = d.axis == 2 ? at.z : at.y;
    const std::int64_t weight = stack.weights[v];
#pragma unroll 4
    for (int m = 0; m < stack.members; ++m) {
      const std::int64_t wrapped = stack.slice[m] + along >= ring ? whole : 0;
      const int estimate = is_weight ? 1 : estimate_units(d, stack.numbers[v * stack.pitch() + m]);
      add_to_sum(sums + 2 * (stack.sum[m] + offset - wrapped) + (is_weight ? 1 : 0), weight * estimate);
    }
  }
}

template <class T, bool kIsWiener, class Patch, int kPlaces>
__device__ __forceinline__ void filter_stacks(const DenoiseArguments& d) {
  extern __shared__ __align__(16) char shared[];
  using Stack = FusedStack<Patch, kPlaces>;
  const int number = static_cast<int>(threadIdx.x) / Stack::kLanes;
  const std::int64_t reference =
      static_cast<std::int64_t>(blockIdx.x) * (static_cast<int>(blockDim.x) / Stack::kLanes) + number;
  const Stack stack(d, reference, shared + number * d.stack_bytes, kIsWiener);
  const int exponent = scale_exponent<T>(d);
  const float scale = power_of_two(-exponent);
  const auto* const volume = static_cast<const T*>(d.volume);
  const auto* const basic = static_cast<const T*>(d.basic);

  find_places(stack, d.indices + reference * d.places);
  __syncwarp();
  load_patches<T, Patch>(stack, volume, basic, kIsWiener, scale, stack.numbers);
  if constexpr (kIsWiener) load_patches<T, Patch>(stack, basic, basic, false, scale, stack.guide);
  __syncwarp();
  if constexpr (kIsWiener) transform_patches<Patch, false>(stack, stack.guide);
  transform_patches<Patch, false>(stack, stack.numbers);
  const std::int64_t energy = sum_of_lanes<Stack::kLanes>(shrink_voxels<kIsWiener>(stack, scales_of(d, exponent)));
  const float weight = stack_weight(energy, kIsWiener ? 1 / kDenoiseWeightUnits : 1.0F);
  const float* const window = window_of(d);
  for (int v = stack.lane; v < stack.voxels(); v += Stack::kLanes) stack.weights[v] = weight_units(weight, window[v]);
  __syncwarp();
  transform_patches<Patch, true>(stack, stack.numbers);
  add_estimates<Patch>(stack);
}

}  // namespace tessera::cuda
