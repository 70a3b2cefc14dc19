// patch_match, box_sums for bytes: a group's tile, and its way into shared memory.
//
//   shared memory   | words: the four voxels from each place on along x | norms of all candidates, negative halves |
//                   | the norms' last bits, a byte each | lists |
//                     [z][y][x], x next to each other
#pragma once

#include <climits>

#include "ops/patch_match/patch_match_box_arguments.h"
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

/// A group's tile: where its references lie, at places that follow each other, counted from its first.
class BoxTile {
 public:
  __device__ explicit BoxTile(const PatchBoxArguments& box) : box_(box) {
    const unsigned line = blockIdx.x / box.tiles[0];
    const unsigned plane = line / box.tiles[1];
    number_[0] = std::int64_t{blockIdx.x - line * box.tiles[0]} * BoxBytes::kTileX;
    number_[1] = std::int64_t{line - plane * box.tiles[1]} * BoxBytes::kTileY;
    number_[2] = std::int64_t{plane} * BoxBytes::kTileZ;
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
  /// Writes one place of a stack of the unit whose first candidate is this.
  __device__ __forceinline__ void write(std::int64_t at, std::int64_t first_candidate, std::uint32_t key) const {
    const PatchArguments& match = box_.match;
    const auto number = static_cast<int>(key & ((1U << BoxBytes::kNumberBits) - 1));
    const int row = number / BoxBytes::kRow;
    const int plane = row / BoxBytes::kNormsY;
    const std::int64_t index = first_candidate +
                               (plane * match.size[1] + row - plane * BoxBytes::kNormsY) * match.size[0] + number -
                               row * BoxBytes::kRow;
    const bool is_kept = key != BoxBytes::kNone;
    PatchUint8::distances(match)[at] = is_kept ? std::int64_t{key >> BoxBytes::kNumberBits} : PatchUint8::empty();
    match.indices[at] = is_kept ? index : -1;
  }

 private:
  const PatchBoxArguments& box_;
  std::int64_t number_[3];  // of its first reference
};

/// Where everything is in shared memory.
struct BoxMemory {
  std::uint32_t* words;
  std::int32_t* norms;
  unsigned char* odd;

  __device__ explicit BoxMemory(unsigned char* shared)
      : words(reinterpret_cast<std::uint32_t*>(shared)),
        norms(reinterpret_cast<std::int32_t*>(words + BoxBytes::kWords)),
        odd(reinterpret_cast<unsigned char*>(norms + BoxBytes::kNorms)) {}
};

/// Words of the tile's region, which begins half a window before its first reference; voxels beyond the volume are 0.
__device__ __forceinline__ void load_box_words(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                               std::uint32_t* words) {
  using Box = BoxBytes;
  const PatchArguments& match = box.match;
  constexpr int kPart = 6;
  constexpr int kParts = Box::kNormsX / kPart;
  static_assert(kPart * kParts == Box::kNormsX);
  for (int i = static_cast<int>(threadIdx.x); i < kParts * Box::kWordsY * Box::kWordsZ; i += Box::kThreads) {
    const int row = i / kParts;
    const int x = i % kParts * kPart;
    const int plane = row / Box::kWordsY;
    const std::int64_t y = first[1] + row - plane * Box::kWordsY;
    const std::int64_t z = first[2] + plane;
    const bool is_row = y >= 0 && y < match.size[1] && z >= 0 && z < match.size[2];
    const std::int64_t begin = first[0] + x;
    const auto* const voxels =
        static_cast<const std::uint8_t*>(match.volume) + (z * match.size[1] + y) * match.size[0] + begin;
    std::uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kPart + Box::kPatch - 1; ++k) {
      const bool is_there = is_row && begin + k >= 0 && begin + k < match.size[0];
      word = word >> 8 | static_cast<std::uint32_t>(is_there ? voxels[k] : 0) << 24;
      if (k >= Box::kPatch - 1) words[row * Box::kRow + x + k - (Box::kPatch - 1)] = word;
    }
  }
}

/// A thread a column along z, whose planes' sums of squares add up to norms.
__device__ __forceinline__ void find_box_norms(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                               const BoxMemory& memory) {
  using Box = BoxBytes;
  const PatchArguments& match = box.match;
  for (int i = static_cast<int>(threadIdx.x); i < Box::kNormPlane; i += Box::kThreads) {
    const int y = i / Box::kRow;
    const int x = i - y * Box::kRow;
    const bool is_column = x < Box::kNormsX && first[0] + x >= 0 && first[0] + x < match.places[0] &&
                           first[1] + y >= 0 && first[1] + y < match.places[1];
    std::uint32_t planes[Box::kPatch] = {};
#pragma unroll
    for (int z = 0; z < Box::kWordsZ; ++z) {
      std::uint32_t sum = 0;
#pragma unroll
      for (int row = 0; row < Box::kPatch; ++row) {
        const std::uint32_t word = memory.words[z * Box::kWordPlane + row * Box::kRow + i];
        sum = __dp4a(word, word, sum);
      }
      planes[z % Box::kPatch] = sum;
      if (z < Box::kPatch - 1) continue;
      const int place = z - (Box::kPatch - 1);
      const bool is_there = is_column && first[2] + place >= 0 && first[2] + place < match.places[2];
      const std::uint32_t norm = planes[0] + planes[1] + planes[2] + planes[3];
      memory.norms[place * Box::kNormPlane + i] = is_there ? -static_cast<std::int32_t>(norm / 2) : Box::kNoNorm;
      memory.odd[place * Box::kNormPlane + i] = static_cast<unsigned char>(norm % 2);
    }
  }
}

/// Words and norms of the tile's region. All threads call it.
__device__ __forceinline__ void load_box(const PatchBoxArguments& box, const BoxMemory& memory) {
  std::int64_t first[3];
  BoxTile(box).find_region(first);
  load_box_words(box, first, memory.words);
  __syncthreads();
  find_box_norms(box, first, memory);
  __syncthreads();
}

}  // namespace tessera::cuda
