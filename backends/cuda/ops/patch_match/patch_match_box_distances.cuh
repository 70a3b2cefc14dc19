// patch_match, box_sums for floats and 16 bits, a reference at every place: distances as they are defined, of voxels in
// shared memory, and stacks on their way out of it. Half a warp has a reference.
//
//   planes   of a candidate a lane has one of four planes of 4 x 4 voxels; four lanes tell each other their sums, and
//            the distance goes to shared memory. So half a warp finds four at a time.
#pragma once

#include "ops/patch_match/patch_match_box_halves.cuh"
#include "ops/patch_match/patch_match_keys.cuh"

namespace tessera::cuda {

/// Of a warp's references.
template <class Types, int kWindow>
class BoxDistances {
 public:
  using Sum = typename Types::Sum;
  using Voxel = typename HalvesMemory<Types, kWindow>::Voxel;

  __device__ __forceinline__ BoxDistances(const PatchBoxArguments& box, const HalvesMemory<Types, kWindow>& memory)
      : box_(box), memory_(memory), tile_(box), unit_x_(box_unit_x()), unit_y_(box_unit_y()) {
    first_candidate_ = tile_.first_candidate(0, 0);
    distances_ = reinterpret_cast<std::uint32_t*>(memory.of_warp() + Box::kStackBytes);
  }

  /// Is there a reference of this number?
  [[nodiscard]] __device__ __forceinline__ bool has(int number) const {
    return tile_.is_reference(unit_x_ + box_along_x(number), unit_y_ + box_along_y(number), box_along_z(number));
  }

 protected:
  using Box = BoxHalves<kWindow>;
  static constexpr unsigned kWarp = 0xffffffffU;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr int kPatch = Box::kPatch;
  static constexpr int kHalf = 16;

  /// Four voxels of a patch, along x.
  struct Row {
    Voxel voxels[kPatch];

    __device__ __forceinline__ explicit Row(const Voxel* from) {
#pragma unroll
      for (int x = 0; x < kPatch; ++x) voxels[x] = from[x];
    }
  };
  [[nodiscard]] static __device__ __forceinline__ Sum square(Voxel a, Voxel b) {
    if constexpr (std::is_same_v<Sum, float>) {
      return Types::square(a, b);
    } else {
      const std::int32_t apart = a - b;
      return static_cast<Sum>(std::int64_t{apart} * apart);
    }
  }
  [[nodiscard]] static __device__ __forceinline__ Sum distance(const Row& a, const Row& b) {
    Sum sum = square(a.voxels[0], b.voxels[0]);
#pragma unroll
    for (int x = 1; x < kPatch; ++x) sum = Types::add(sum, square(a.voxels[x], b.voxels[x]));
    return sum;
  }
  /// Four rows of a patch.
  struct Plane {
    Row rows[kPatch];

    __device__ __forceinline__ explicit Plane(const Voxel* from)
        : rows{Row(from), Row(from + Box::kVoxelRow), Row(from + 2 * Box::kVoxelRow), Row(from + 3 * Box::kVoxelRow)} {}
    [[nodiscard]] __device__ __forceinline__ Sum distance(const Voxel* from) const {
      Sum sum = BoxDistances::distance(rows[0], Row(from));
#pragma unroll
      for (int y = 1; y < kPatch; ++y) {
        sum = Types::add(sum, BoxDistances::distance(rows[y], Row(from + y * Box::kVoxelRow)));
      }
      return sum;
    }
  };
  /// Of patches that begin at these voxels of the tile.
  [[nodiscard]] __device__ __forceinline__ Sum distance(int own, int other) const {
    Sum planes = 0;
#pragma unroll 1
    for (int z = 0; z < kPatch; ++z, own += Box::kVoxelPlane, other += Box::kVoxelPlane) {
      Sum plane = 0;
#pragma unroll
      for (int y = 0; y < kPatch * Box::kVoxelRow; y += Box::kVoxelRow) {
        plane = Types::add(plane, distance(Row(memory_.voxels + own + y), Row(memory_.voxels + other + y)));
      }
      planes = Types::add(planes, plane);
    }
    return planes;
  }
  /// Of a reference, in the tile.
  [[nodiscard]] __device__ __forceinline__ int first_voxel(int number) const {
    const PatchArguments& match = box_.match;
    const auto half = [&](int axis) { return static_cast<int>(match.window[axis]) / 2; };
    return (half(2) + box_along_z(number)) * Box::kVoxelPlane +
           (half(1) + unit_y_ + box_along_y(number)) * Box::kVoxelRow + half(0) + unit_x_ + box_along_x(number);
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t reference_of(int number) const {
    return tile_.reference(unit_x_ + box_along_x(number), unit_y_ + box_along_y(number), box_along_z(number));
  }
  /// Finds the distances of the half's reference and its listed candidates, and keeps them at these slots; what is
  /// behind the list's end is anything. All lanes call it.
  __device__ __forceinline__ void find_distances(int number, const std::uint16_t* list, int listed,
                                                 int first_slot) const {
    constexpr unsigned kLast = (Box::kNormsZ - 1) * Box::kVoxelPlane + (Box::kNormsY - 1) * Box::kVoxelRow +
                               Box::kNormsX - 1;  // of the candidates
    constexpr int kAtATime = kHalf / kPatch;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int z = lane % kPatch;
    const Voxel* const voxels = memory_.voxels + z * Box::kVoxelPlane;
    const Plane own(voxels + first_voxel(number));
    const int most = max(listed, __shfl_xor_sync(kWarp, listed, kHalf));
#pragma unroll 1
    for (int i = lane % kHalf / kPatch; i - lane % kHalf / kPatch < most; i += kAtATime) {
      const Sum plane = own.distance(voxels + min(unsigned{list[i]}, kLast));
      Sum planes = __shfl_sync(kWarp, plane, 0, kPatch);
#pragma unroll
      for (int k = 1; k < kPatch; ++k) planes = Types::add(planes, __shfl_sync(kWarp, plane, k, kPatch));
      if (z == 0 && i < listed) set_distance(number, first_slot + i, planes);
    }
    __syncwarp();
  }
  /// Of whole numbers the lower 32 bits, and the upper ones behind all of these.
  __device__ __forceinline__ void set_distance(int number, int slot, Sum found) const {
    const std::uint64_t bits = patch_distance_bits(found);
    distances_[number * Box::kSlotStride + slot] = static_cast<std::uint32_t>(bits);
    if constexpr (sizeof(Sum) != 4) {
      reinterpret_cast<unsigned char*>(distances_ + Box::kDistances)[number * Box::kSlotStride + slot] =
          static_cast<unsigned char>(bits >> 32);
    }
  }
  [[nodiscard]] __device__ __forceinline__ Sum distance_at(int number, int slot) const {
    std::uint64_t bits = distances_[number * Box::kSlotStride + slot];
    if constexpr (sizeof(Sum) != 4) {
      const auto* const upper = reinterpret_cast<const unsigned char*>(distances_ + Box::kDistances);
      bits |= std::uint64_t{upper[number * Box::kSlotStride + slot]} << 32;
    }
    return patch_distance_of_bits<Sum>(bits);
  }
  [[nodiscard]] __device__ __forceinline__ bool is_kept(Sum distance) const {
    if constexpr (std::is_same_v<Sum, float>) {
      return distance <= box_.match.largest_float;
    } else {
      return static_cast<std::int64_t>(distance) <= box_.match.largest;
    }
  }
  [[nodiscard]] __device__ __forceinline__ std::uint64_t key_of(Sum distance, std::uint64_t voxel) const {
    return is_kept(distance) ? patch_distance_bits(distance) << Box::kNumberBits | voxel : kNone;
  }
  /// Of a half's lanes the i-th has the place i.
  __device__ __forceinline__ void write_sorted(int number, std::uint64_t key, bool is_written) const {
    const PatchArguments& match = box_.match;
    const int lane = static_cast<int>(threadIdx.x) % kHalf;
    const int half = static_cast<int>(threadIdx.x) % 32 / kHalf;
    const int places = static_cast<int>(match.max_patches);
    const bool is_taken = key != kNone && lane < places;
    const int count = __popc(__ballot_sync(kWarp, is_taken) >> (half * kHalf) & ((1U << kHalf) - 1));
    if (!is_written || lane >= places) return;
    const std::int64_t reference = reference_of(number);
    if (lane == 0) match.counts[reference] = count;
    const auto voxel = static_cast<int>(key & ((1U << Box::kNumberBits) - 1));
    const int z = voxel / Box::kVoxelPlane;
    const int y = (voxel - z * Box::kVoxelPlane) / Box::kVoxelRow;
    const int x = voxel - z * Box::kVoxelPlane - y * Box::kVoxelRow;
    const std::int64_t at = reference * places + lane;
    const std::int64_t index = first_candidate_ + (z * match.size[1] + y) * match.size[0] + x;
    const auto distance = static_cast<typename Types::Stored>(patch_distance_of_bits<Sum>(key >> Box::kNumberBits));
    Types::distances(match)[at] = is_taken ? distance : Types::empty();
    match.indices[at] = is_taken ? index : -1;
  }

  const PatchBoxArguments& box_;
  const HalvesMemory<Types, kWindow>& memory_;
  BoxTile tile_;
  int unit_x_;
  int unit_y_;
  std::int64_t first_candidate_;
  std::uint32_t* distances_;  ///< of the warp's listed candidates
};

}  // namespace tessera::cuda
