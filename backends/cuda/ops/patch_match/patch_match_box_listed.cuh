// patch_match, box_sums for floats and 16 bits, a reference at every place: stacks of listed candidates, by distances
// as they are defined. All references of a warp are sorted together, by two lanes each.
//
//   key      [ the highest bits of the distance, as a float's | the candidate's place in its list ]
//
// Where two keys have the same bits of the distance, a reference is sorted alone, by all bits and numbers, as one with
// a longer list is, so many candidates at a time; one without a list is found by all lanes.
#pragma once

#include "ops/patch_match/patch_match_box_distances.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

template <class Types, int kWindow>
class BoxListed : public BoxDistances<Types, kWindow> {
 public:
  using Sum = typename Types::Sum;
  using BoxDistances<Types, kWindow>::find_distances;

  __device__ __forceinline__ BoxListed(const PatchBoxArguments& box, const HalvesMemory<Types, kWindow>& memory)
      : BoxDistances<Types, kWindow>(box, memory) {
    stacks_ = reinterpret_cast<std::uint32_t*>(memory.of_warp());
  }

  /// Sorts the candidates of all references by their distances, lanes 2 i and 2 i + 1 those of reference i, of which so
  /// many are listed. Returns whether some are so near to each other that their order is not known. All lanes call it.
  __device__ __forceinline__ bool sort(int listed) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::uint32_t keys[Box::kPlaces];
#pragma unroll
    for (int i = 0; i < Box::kPlaces; ++i) {
      const int slot = 2 * i + lane % 2;
      // Those that are not there are apart from each other, too.
      keys[i] = kNotKept | static_cast<std::uint32_t>(slot * (kSlots + 1));
      if (slot >= listed) continue;
      const Sum found = distance_at(lane / 2, slot);
      if (Base::is_kept(found)) keys[i] = (nearness_of(found) & ~(kSlots - 1)) | static_cast<std::uint32_t>(slot);
    }
    sort_keys(keys);
    std::uint32_t next = kNoKey;  // of those that have no place
#pragma unroll
    for (int i = 0; i < Box::kPlaces / 2; ++i) {
      const int j = Box::kPlaces - 1 - i;
      const std::uint32_t low = __shfl_xor_sync(kWarp, keys[i], 1);
      const std::uint32_t high = __shfl_xor_sync(kWarp, keys[j], 1);
      next = min(next, min(max(keys[i], high), max(keys[j], low)));
      keys[i] = min(keys[i], high);
      keys[j] = min(keys[j], low);
    }
    sort_bitonic(keys);
    bool is_tied = (keys[Box::kPlaces - 1] ^ next) < kSlots;
#pragma unroll
    for (int i = 1; i < Box::kPlaces; ++i) is_tied = is_tied || (keys[i] ^ keys[i - 1]) < kSlots;
    std::uint32_t* const sorted = stacks_ + lane / 2 * (Box::kPlaces + 1);
#pragma unroll
    for (int i = 0; i < Box::kPlaces; ++i) {
      if (i % 2 == lane % 2) sorted[i] = keys[i];
    }
    __syncwarp();
    return is_tied;
  }
  /// Writes what is sorted of two references, each half its own, if it is to be written. All lanes call it.
  __device__ __forceinline__ void write_two(int number, const std::uint16_t* list, bool is_written) const {
    const int lane = static_cast<int>(threadIdx.x) % kHalf;
    const std::uint32_t sorted = stacks_[number * (Box::kPlaces + 1) + lane];
    std::uint64_t key = kNone;
    if (is_written && sorted < kNotKept) {
      const int slot = static_cast<int>(sorted % kSlots);
      key = patch_distance_bits(distance_at(number, slot)) << Box::kNumberBits | list[slot];
    }
    write_sorted(number, key, is_written);
  }
  /// Finds and writes the stack of a reference, of which so many candidates are listed, and of up to kTogether perhaps
  /// their distances found. All lanes call it.
  __device__ __forceinline__ void write_long(int number, const std::uint16_t* list, int listed, bool are_found) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int half = lane / kHalf;
    auto* const keys = reinterpret_cast<std::uint64_t*>(stacks_);
    std::uint64_t* const before = keys + Box::kTogether;
    std::uint64_t* const sorted = before + kHalf;
    if (lane < kHalf) sorted[lane] = kNone;
    std::uint64_t best = kNone;  // of the first kPlaces, a lane's
#pragma unroll 1
    for (int some = 0; some < listed; some += Box::kTogether) {
      const int from = half * kHalf;
      if (!are_found) find_distances(number, list + some + from, min(listed - some - from, kHalf), from);
      const bool is_there = some + lane < listed;
      const std::uint64_t key = is_there ? Base::key_of(distance_at(number, lane), list[some + lane]) : kNone;
      keys[lane] = key;
      if (lane < kHalf) before[lane] = best;
      __syncwarp();
      int place = 0;
      int place_of_best = lane;  // those before are sorted
      const int end = min(listed - some, Box::kTogether);
#pragma unroll 4
      for (int i = 0; i < end; ++i) {
        place += keys[i] < key ? 1 : 0;
        place_of_best += keys[i] < best ? 1 : 0;
      }
#pragma unroll 4
      for (int i = 0; i < (some == 0 ? 0 : Box::kPlaces); ++i) place += before[i] < key ? 1 : 0;
      if (key != kNone && place < Box::kPlaces) sorted[place] = key;
      if (lane < kHalf && best != kNone && place_of_best < Box::kPlaces) sorted[place_of_best] = best;
      __syncwarp();
      best = sorted[lane % kHalf];
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
  using Base::distance_at;
  using Base::first_voxel;
  using Base::kHalf;
  using Base::kNone;
  using Base::kWarp;
  using Base::reference_of;
  using Base::tile_;
  using Base::write_sorted;

  /// Of a key for sorting: the highest bits of a distance, as a float's, and a candidate's place in its list.
  static constexpr std::uint32_t kSlots = Box::kTogether;
  static constexpr std::uint32_t kNotKept = 0xffff0000U;
  static_assert(kSlots * (kSlots + 1) < 0x10000U);

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t nearness_of(Sum distance) {
    if constexpr (std::is_same_v<Sum, float>) {
      return __float_as_uint(distance);
    } else {
      return __float_as_uint(__ull2float_rn(static_cast<unsigned long long>(distance)));
    }
  }
  std::uint32_t* stacks_;  ///< sorted candidates of all references, or keys of one
};

}  // namespace tessera::cuda
