// denoise, fused: one stack of a warp's threads, or of half of them. See denoise_fused.cu.
#pragma once

#include "ops/denoise/denoise_fused_transform.cuh"

namespace tessera::cuda {

template <class Stack>
__device__ __forceinline__ void find_places(const Stack& stack, const std::int64_t* indices) {
  for (int m = stack.lane; m < stack.members; m += Stack::kLanes) {
    const DenoisePlace at = place_of(stack.d, indices[m]);
    stack.first[m] = indices[m];
    stack.sum[m] = held_index(stack.d, at);
    stack.slice[m] = static_cast<int>(in_ring(stack.d, stack.d.axis == 2 ? at.z : at.y));
  }
}

/// `number(at)`: of a voxel. Several members' voxels are on their way at a time: they are far apart in memory.
template <class Patch, class Stack, class Number>
__device__ __forceinline__ void load_members(const Stack& stack, const Number& number, float* numbers) {
  constexpr int kTogether = 8;
  const DenoiseArguments& d = stack.d;
  const auto row = static_cast<int>(d.size[0]);
#pragma unroll 1
  for (int v = stack.lane; v < stack.voxels(); v += Stack::kLanes) {
    const VoxelInPatch at = voxel_in_patch<Patch>(d, v);
    const std::int64_t offset = (at.z * d.size[1] + at.y) * row + at.x;
    float* const to = numbers + v * stack.pitch();
    int m = 0;
#pragma unroll 1
    for (; m + kTogether <= stack.members; m += kTogether) {
      float found[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) found[i] = number(stack.first[m + i] + offset);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) to[m + i] = found[i];
    }
#pragma unroll 1
    for (; m < stack.members; ++m) to[m] = number(stack.first[m] + offset);
  }
}

template <class T, class Patch, class Stack>
__device__ __forceinline__ void load_patches(const Stack& stack, const T* source, const T* instead, bool has_instead,
                                             float scale, float* numbers) {
  const DenoiseArguments& d = stack.d;
  if (d.channels == 1) {
    load_members<Patch>(
        stack, [&](std::int64_t at) { return scaled_colour(source, instead, has_instead, at, scale); }, numbers);
  } else {
    load_members<Patch>(
        stack, [&](std::int64_t at) { return number_at(d, source, instead, has_instead, at, scale); }, numbers);
  }
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

/// kWraps: may a patch go on at the ring's begin?
template <class Patch, bool kWraps, class Stack>
__device__ __forceinline__ void add_estimates_to(const Stack& stack) {
  const DenoiseArguments& d = stack.d;
  std::uint64_t* const sums = d.sums + 2 * d.channel * held_voxels(d);
  const auto ring = static_cast<int>(d.axis == 2 ? d.held[2] : d.held[1]);
  const std::int64_t whole = ring * (d.axis == 2 ? d.held[0] * d.held[1] : d.held[0]);
#pragma unroll 1
  for (int part = stack.lane; part < 2 * stack.voxels(); part += Stack::kLanes) {
    const int v = part / 2;
    const bool is_weight = part % 2 != 0;
    const VoxelInPatch at = voxel_in_patch<Patch>(d, v);
    const std::int64_t offset = (at.z * d.held[1] + at.y) * d.held[0] + at.x;
    std::uint64_t* const to = sums + 2 * offset + (is_weight ? 1 : 0);
    const int left = ring - (d.axis == 2 ? at.z : at.y);
    const int weight = stack.weights[v];
    const float* const estimates = stack.numbers + v * stack.pitch();
#pragma unroll 4
    for (int m = 0; m < stack.members; ++m) {
      std::int64_t place = stack.sum[m];
      if (kWraps && stack.slice[m] >= left) place -= whole;
      const int estimate = is_weight ? 1 : estimate_units(d, estimates[m]);
      add_to_sum(to + 2 * place, static_cast<std::int64_t>(weight) * estimate);
    }
  }
}

template <class Patch, class Stack>
__device__ __forceinline__ void add_estimates(const Stack& stack) {
  const DenoiseArguments& d = stack.d;
  if (d.axis == 2 ? d.held[2] < d.size[2] : d.held[1] < d.size[1]) {
    add_estimates_to<Patch, true>(stack);
  } else {
    add_estimates_to<Patch, false>(stack);
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
