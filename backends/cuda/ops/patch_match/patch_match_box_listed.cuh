// patch_match, box_sums for floats and 16 bits, a reference at every place: stacks of listed candidates, by distances
// as they are defined. Two references are found at a time.
//
//   places   a candidate's place in the stack is the number of those that are nearer. They are compared as floats
//            first, which may tie: then all bits are compared, and numbers.
//
// A reference with a longer list is found alone, so many candidates at a time, and one without a list by all lanes.
#pragma once

#include "ops/patch_match/patch_match_box_distances.cuh"

namespace tessera::cuda {

template <class Types, int kWindow>
class BoxListed : public BoxDistances<Types, kWindow> {
 public:
  using Sum = typename Types::Sum;

  __device__ __forceinline__ BoxListed(const PatchBoxArguments& box, const HalvesMemory<Types, kWindow>& memory)
      : BoxDistances<Types, kWindow>(box, memory) {
    sorted_ = reinterpret_cast<std::uint64_t*>(memory.of_warp() + Box::kSumBytes);
    nearness_ = reinterpret_cast<std::int32_t*>(sorted_ + Box::kKeys);
  }

  /// Finds the stacks of two references, each half of the warp its own, of which up to kTogether candidates are listed,
  /// and writes those that are to be written. All lanes call it.
  __device__ __forceinline__ void write_two(int number, const std::uint16_t* list, int listed, bool is_written) const {
    const int lane = static_cast<int>(threadIdx.x) % kHalf;
    const int half = static_cast<int>(threadIdx.x) % 32 / kHalf;
    const int most = max(listed, __shfl_xor_sync(kWarp, listed, kHalf));
    std::uint64_t keys[2] = {kNone, kNone};
    Base::template find_keys<8>(number, list, listed, min(most, kHalf), keys[0]);
    if (most > kHalf) Base::template find_keys<4>(number, list + kHalf, listed - kHalf, most - kHalf, keys[1]);
    std::int32_t* const nearness = nearness_ + half * Box::kNearStride;
    std::int32_t mine[2];
    std::uint64_t* const sorted = sorted_ + half * kHalf;
    sorted[lane] = kNone;
#pragma unroll
    for (int k = 0; k < 2; ++k) nearness[k * kHalf + lane] = mine[k] = nearness_of(keys[k]);
    __syncwarp();
    int places[2] = {};
#pragma unroll 1
    for (int i = 0; i < most; i += 4) {
      const int4 others = *reinterpret_cast<const int4*>(nearness + i);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        // None is below 0, so a difference's sign tells which is less.
        places[k] -= (others.x - mine[k]) >> 31;
        places[k] -= (others.y - mine[k]) >> 31;
        places[k] -= (others.z - mine[k]) >> 31;
        places[k] -= (others.w - mine[k]) >> 31;
      }
    }
    // Of each half a bit for each place that is taken. Where there are fewer than keys, some are as near.
    unsigned taken = 0;
    int count = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const bool is_taken = keys[k] != kNone && places[k] < Box::kPlaces;
      taken |= is_taken ? 1U << (half * kHalf + places[k]) : 0U;
      count += __popc(__ballot_sync(kWarp, is_taken));
    }
    if (__popc(any_of_warp(taken)) < count) {
      compare_all_bits(keys, most, places);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (keys[k] != kNone && places[k] < Box::kPlaces) sorted[places[k]] = keys[k];
    }
    __syncwarp();
    write_sorted(number, sorted[lane], is_written);
    __syncwarp();
  }
  /// Finds and writes the stack of a reference, of which so many candidates are listed. All lanes call it.
  __device__ __forceinline__ void write_long(int number, const std::uint16_t* list, int listed) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int half = lane / kHalf;
    std::uint64_t* const before = sorted_ + 2 * kHalf;
    sorted_[lane] = kNone;
    std::uint64_t best = kNone;  // of the first kPlaces, a lane's
#pragma unroll 1
    for (int some = 0; some < listed; some += Box::kTogether) {
      const int from = some + half * kHalf;
      std::uint64_t key = kNone;
      Base::template find_keys<8>(number, list + from, listed - from, kHalf, key);
      auto* const keys = reinterpret_cast<std::uint64_t*>(sums_);
      keys[lane] = key;
      if (lane < kHalf) before[lane] = best;
      __syncwarp();
      int place = 0;
      int place_of_best = lane;  // those before are sorted
#pragma unroll 4
      for (int i = 0; i < Box::kTogether; ++i) {
        place += keys[i] < key ? 1 : 0;
        place_of_best += keys[i] < best ? 1 : 0;
      }
#pragma unroll 4
      for (int i = 0; i < Box::kPlaces; ++i) place += before[i] < key ? 1 : 0;
      if (key != kNone && place < Box::kPlaces) sorted_[place] = key;
      if (lane < kHalf && best != kNone && place_of_best < Box::kPlaces) sorted_[place_of_best] = best;
      __syncwarp();
      best = sorted_[lane % kHalf];
      __syncwarp();
    }
    write_sorted(number, best, lane < kHalf);
  }
  /// The same of a reference without a list, a candidate a lane. Where as many equal it as a stack has places, none
  /// that follows is nearer.
  __device__ __forceinline__ void find_together(int number) const {
    const PatchArguments& match = box_.match;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t reference = reference_of(number);
    const PatchWindow window(match, reference);
    std::int64_t first[3];
    tile_.find_region(first);
    int from = 0;
    int count[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      constexpr int kStrides[3] = {1, Box::kVoxelRow, Box::kVoxelPlane};
      from += static_cast<int>(window.first[axis] - first[axis]) * kStrides[axis];
      count[axis] = static_cast<int>(window.count[axis]);
    }
    const int own = first_voxel(number);
    const int candidates = count[0] * count[1] * count[2];
    PatchKeys<Types, std::uint64_t, Box::kPlaces> keys(match);
#pragma unroll 1
    for (int some = 0; some < candidates && keys.limit() != 0; some += 32) {
      const int of_lane = min(some + lane, candidates - 1);
      const int line = of_lane / count[0];
      const int z = line / count[1];
      const int voxel =
          from + of_lane - line * count[0] + (line - z * count[1]) * Box::kVoxelRow + z * Box::kVoxelPlane;
      const Sum found = distance(own, voxel);
#pragma unroll 1
      for (unsigned within = __ballot_sync(kWarp, some + lane < candidates && found < keys.limit()); within != 0;
           within &= within - 1) {
        const int of = __ffs(static_cast<int>(within)) - 1;
        keys.offer(__shfl_sync(kWarp, found, of), some + of);
      }
    }
    if (lane == 0) keys.write(match, window, reference);
  }

 private:
  using Box = BoxHalves<kWindow>;
  using Base = BoxDistances<Types, kWindow>;
  using Base::box_;
  using Base::distance;
  using Base::first_voxel;
  using Base::kHalf;
  using Base::kNone;
  using Base::kWarp;
  using Base::reference_of;
  using Base::sums_;
  using Base::tile_;
  using Base::write_sorted;

  /// Never falls where keys rise.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t nearness_of(std::uint64_t key) {
    if (key == kNone) return INT_MAX;
    if constexpr (std::is_same_v<Sum, float>) {
      return static_cast<std::int32_t>(key >> Box::kNumberBits);
    } else {
      return __float_as_int(__ull2float_rn(key >> Box::kNumberBits));
    }
  }
  /// The bits that any lane has.
  [[nodiscard]] static __device__ __forceinline__ unsigned any_of_warp(unsigned bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(kWarp, bits);
#else
    for (int apart = 1; apart < 32; apart *= 2) bits |= __shfl_xor_sync(kWarp, bits, apart);
    return bits;
#endif
  }
  /// Finds places once more.
  __device__ __forceinline__ void compare_all_bits(const std::uint64_t (&mine)[2], int most, int (&places)[2]) const {
    const int lane = static_cast<int>(threadIdx.x) % kHalf;
    const int half = static_cast<int>(threadIdx.x) % 32 / kHalf;
    std::uint64_t* const keys = reinterpret_cast<std::uint64_t*>(sums_) + half * Box::kTogether;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      keys[k * kHalf + lane] = mine[k];
      places[k] = 0;
    }
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < most; ++i) {
#pragma unroll
      for (int k = 0; k < 2; ++k) places[k] += keys[i] < mine[k] ? 1 : 0;
    }
  }

  std::uint64_t* sorted_;   ///< two stacks, and one
  std::int32_t* nearness_;  ///< of the keys of both halves
};

}  // namespace tessera::cuda
