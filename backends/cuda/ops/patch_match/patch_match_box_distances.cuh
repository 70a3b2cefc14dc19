// patch_match, box_sums for floats and 16 bits, a reference at every place: distances as they are defined, of voxels in
// shared memory, and stacks on their way out of it. Half a warp has a reference.
//
//   rows     of a candidate a lane has one of 16 rows of four voxels; the row's sum goes to shared memory
//   sums     then a lane has a candidate, and adds up its rows and planes
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
    sums_ = reinterpret_cast<Sum*>(memory.of_warp());
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
  /// Of the half's reference and its listed candidates; what is behind the list's end is anything.
  template <int kAtATime>
  __device__ __forceinline__ void add_up_rows(int number, const std::uint16_t* list, int listed) const {
    constexpr unsigned kLast = (Box::kNormsZ - 1) * Box::kVoxelPlane + (Box::kNormsY - 1) * Box::kVoxelRow +
                               Box::kNormsX - 1;  // of the candidates
    const int row = static_cast<int>(threadIdx.x) % kHalf;
    const int half = static_cast<int>(threadIdx.x) % 32 / kHalf;
    const Voxel* const voxels = memory_.voxels + row / kPatch * Box::kVoxelPlane + row % kPatch * Box::kVoxelRow;
    const Row own(voxels + first_voxel(number));
    Sum* const sums = sums_ + half * kHalf * Box::kSumStride + row;
#pragma unroll 1
    for (int i = 0; i < listed; i += kAtATime) {
#pragma unroll
      for (int k = 0; k < kAtATime; ++k) {
        const Row other(voxels + min(unsigned{list[i + k]}, kLast));
        sums[(i + k) * Box::kSumStride] = distance(own, other);
      }
    }
  }
  /// A lane's of the half's candidates, of which there are `listed`, and of the warp's other half perhaps more.
  template <int kAtATime>
  __device__ __forceinline__ void find_keys(int number, const std::uint16_t* list, int listed, int most,
                                            std::uint64_t& key) const {
    const int lane = static_cast<int>(threadIdx.x) % kHalf;
    add_up_rows<kAtATime>(number, list, most);
    __syncwarp();
    if (lane < listed) {
      const Sum* const rows = sums_ + static_cast<int>(threadIdx.x) % 32 * Box::kSumStride;
      key = key_of(sum_of_rows(rows), list[lane]);
    }
    __syncwarp();
  }
  [[nodiscard]] static __device__ __forceinline__ Sum sum_of_rows(const Sum* rows) {
    Sum planes = 0;
#pragma unroll
    for (int z = 0; z < kPatch; ++z) {
      Sum plane = rows[kPatch * z];
#pragma unroll
      for (int y = 1; y < kPatch; ++y) plane = Types::add(plane, rows[kPatch * z + y]);
      planes = z == 0 ? plane : Types::add(planes, plane);
    }
    return planes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint64_t key_of(Sum distance, std::uint64_t voxel) const {
    bool is_kept = false;
    if constexpr (std::is_same_v<Sum, float>) {
      is_kept = distance <= box_.match.largest_float;
    } else {
      is_kept = static_cast<std::int64_t>(distance) <= box_.match.largest;
    }
    return is_kept ? patch_distance_bits(distance) << Box::kNumberBits | voxel : kNone;
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
  Sum* sums_;
};

}  // namespace tessera::cuda
