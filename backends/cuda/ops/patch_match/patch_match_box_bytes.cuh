// patch_match, box_sums for bytes: a group's tile, and its way into shared memory.
//
//   shared memory   | words: the four voxels from each place on along z | norms of all candidates | lists |
//                     [x][y][z], z next to each other, as a warp's threads are
#pragma once

#include <climits>

#include "ops/patch_match/patch_match_box_arguments.h"
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

/// A group's tile: where its references lie, at places that follow each other, counted from its first.
class BoxTile {
 public:
  __device__ explicit BoxTile(const PatchBoxArguments& box) : box_(box) {
    const std::int64_t line = blockIdx.x / box.tiles[0];
    const std::int64_t plane = line / box.tiles[1];
    number_[0] = (blockIdx.x - line * box.tiles[0]) * BoxBytes::kTileX;
    number_[1] = (line - plane * box.tiles[1]) * BoxBytes::kTileY;
    number_[2] = plane * BoxBytes::kTileZ;
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
  /// Writes one place of a reference's stack.
  __device__ __forceinline__ void write(int x, int y, int z, int place, std::uint32_t key) const {
    const PatchArguments& match = box_.match;
    const std::int64_t at = reference(x, y, z) * match.max_patches + place;
    if (key == BoxBytes::kNone) {
      PatchUint8::distances(match)[at] = PatchUint8::empty();
      match.indices[at] = -1;
      return;
    }
    std::int64_t first[3];
    find_region(first);
    const auto number = static_cast<int>(key & (box_.number_scale - 1));
    const int window_y = static_cast<int>(match.window[1]);
    const int row = number / BoxBytes::kWindowX;
    const int plane = row / window_y;
    PatchUint8::distances(match)[at] = key >> match.number_bits;
    match.indices[at] =
        match.first_voxel +
        ((first[2] + z + plane) * match.size[1] + first[1] + y + row - plane * window_y) * match.size[0] + first[0] +
        x + number - row * BoxBytes::kWindowX;
  }

 private:
  const PatchBoxArguments& box_;
  std::int64_t number_[3];  // of its first reference
};

/// A voxel of the tile's region, which begins half a window before its first reference; 0 beyond the volume.
__device__ __forceinline__ std::uint32_t box_voxel(const PatchBoxArguments& box, const std::int64_t (&first)[3], int x,
                                                   int y, int z) {
  const PatchArguments& match = box.match;
  const std::int64_t at[3] = {first[0] + x, first[1] + y, first[2] + z};
  if (at[0] < 0 || at[0] >= match.size[0] || at[1] < 0 || at[1] >= match.size[1] || at[2] < 0 || at[2] >= match.size[2])
    return 0;
  return static_cast<const std::uint8_t*>(match.volume)[(at[2] * match.size[1] + at[1]) * match.size[0] + at[0]];
}

/// Words and norms of the tile's region. All threads call it.
__device__ __forceinline__ void load_box(const PatchBoxArguments& box, unsigned char* shared) {
  using Box = BoxBytes;
  const PatchArguments& match = box.match;
  auto* const words = reinterpret_cast<std::uint32_t*>(shared);
  auto* const norms = reinterpret_cast<std::int32_t*>(words + Box::kWords);
  std::int64_t first[3];
  BoxTile(box).find_region(first);
  // A thread reads a part of a line along z, and threads next to each other have neighbours along x.
  constexpr int kPart = 14;
  constexpr int kParts = Box::kWordsZ / kPart;
  static_assert(kPart * kParts == Box::kWordsZ);
  for (int i = static_cast<int>(threadIdx.x); i < Box::kWordsX * Box::kWordsY * kParts; i += Box::kThreads) {
    const int x = i % Box::kWordsX;
    const int y = i / Box::kWordsX % Box::kWordsY;
    const int z = i / (Box::kWordsX * Box::kWordsY) * kPart;
    std::uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kPart + 3; ++k) {
      word = word >> 8 | box_voxel(box, first, x, y, z + k) << 24;
      if (k >= 3) words[Box::word_at(x, y, z + k - 3)] = word;
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < Box::kNorms; i += Box::kThreads) {
    const int z = i % Box::kWordsZ;
    const int y = i / Box::kWordsZ % Box::kNormsY;
    const int x = i / (Box::kWordsZ * Box::kNormsY);
    const bool is_there = first[0] + x >= 0 && first[0] + x < match.places[0] && first[1] + y >= 0 &&
                          first[1] + y < match.places[1] && first[2] + z >= 0 && first[2] + z < match.places[2];
    std::uint32_t norm = 0;
#pragma unroll
    for (int column = 0; column < 4; ++column) {
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        const std::uint32_t word = words[Box::word_at(x + column, y + row, z)];
        norm = __dp4a(word, word, norm);
      }
    }
    norms[i] = is_there ? static_cast<std::int32_t>(norm) : Box::kNoNorm;
  }
  __syncthreads();
}

}  // namespace tessera::cuda
