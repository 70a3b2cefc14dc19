// patch_match, box_sums, a reference at every place: where the references of a group and of its warps lie.
#pragma once

#include "ops/patch_match/patch_match_box_arguments.h"

namespace tessera::cuda {

/// Of a warp's references, as rows of the products.
__device__ __forceinline__ int box_along_x(int number) {
  return number % 2;
}
__device__ __forceinline__ int box_along_y(int number) {
  return number / 2 % 2;
}
__device__ __forceinline__ int box_along_z(int number) {
  return number / 4;
}

/// Where a warp's first reference is, from the tile's.
__device__ __forceinline__ int box_unit_x() {
  return static_cast<int>(threadIdx.x) / 32 % BoxGroup::kWarpsX * BoxGroup::kUnitX;
}
__device__ __forceinline__ int box_unit_y() {
  return static_cast<int>(threadIdx.x) / 32 / BoxGroup::kWarpsX * BoxGroup::kUnitY;
}

/// A group's tile: where its references lie, at places that follow each other, counted from its first.
class BoxTile {
 public:
  __device__ explicit BoxTile(const PatchBoxArguments& box) : box_(box) {
    const unsigned line = blockIdx.x / box.tiles[0];
    const unsigned plane = line / box.tiles[1];
    number_[0] = std::int64_t{blockIdx.x - line * box.tiles[0]} * BoxGroup::kTileX;
    number_[1] = std::int64_t{line - plane * box.tiles[1]} * BoxGroup::kTileY;
    number_[2] = std::int64_t{plane} * BoxGroup::kTileZ;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_reference(int x, int y, int z) const {
    const PatchArguments& match = box_.match;
    return number_[0] + x < match.references[0] && number_[1] + y < match.references[1] &&
           number_[2] + z < match.references[2];
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t reference(int x, int y, int z) const {
    const PatchArguments& match = box_.match;
    return ((number_[2] + z) * match.references[1] + number_[1] + y) * match.references[0] + number_[0] + x;
  }
  /// The place of the first candidate of its first reference, were the volume without borders.
  __device__ __forceinline__ void find_region(std::int64_t (&first)[3]) const {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      first[axis] = box_.match.start[axis] + number_[axis] - box_.match.window[axis] / 2;
    }
  }
  /// The voxel of the first candidate of the unit whose first reference is at (x, y), among all of the volume.
  [[nodiscard]] __device__ __forceinline__ std::int64_t first_candidate(int x, int y) const {
    const PatchArguments& match = box_.match;
    std::int64_t first[3];
    find_region(first);
    return match.first_voxel + (first[2] * match.size[1] + first[1] + y) * match.size[0] + first[0] + x;
  }

 private:
  const PatchBoxArguments& box_;
  std::int64_t number_[3];  // of its first reference
};

}  // namespace tessera::cuda
