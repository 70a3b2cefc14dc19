// patch_match, box_sums for bytes: a group's tile, and its way into shared memory.
//
//   shared memory   | words: the four voxels from each place on along x | norms of all candidates, negative halves |
//                   | what each warp notes, and its lists |
//                     [z][y][x], x next to each other
#pragma once

#include "ops/patch_match/patch_match_box_group.cuh"

namespace tessera::cuda {

/// Where everything is in shared memory.
template <int kWindow>
struct BoxMemory {
  using Box = BoxBytes<kWindow>;

  std::uint32_t* words;
  std::int32_t* norms;
  std::uint32_t* notes;  ///< of the warp
  std::uint16_t* lists;

  __device__ __forceinline__ explicit BoxMemory(unsigned char* shared)
      : words(reinterpret_cast<std::uint32_t*>(shared)),
        norms(reinterpret_cast<std::int32_t*>(words + Box::kWords)),
        notes(reinterpret_cast<std::uint32_t*>(shared + Box::kTileBytes + threadIdx.x / 32 * Box::kWarpBytes)),
        lists(reinterpret_cast<std::uint16_t*>(notes + 32 * Box::kNotes)) {}
};

/// Words of the tile's region, which begins half a window before its first reference; voxels beyond the volume are 0.
template <int kWindow>
__device__ __forceinline__ void load_box_words(const PatchArguments& match, const std::int64_t (&first)[3],
                                               std::uint32_t* words) {
  using Box = BoxBytes<kWindow>;
  constexpr int kPart = Box::kNormsX % 6 == 0 ? 6 : Box::kNormsX / 2;
  constexpr int kParts = Box::kNormsX / kPart;
  static_assert(kPart * kParts == Box::kNormsX);
  constexpr int kBeyond = Box::kNormsX + Box::kPatch;
  int low[3];
  int end[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t size = match.size[axis] - first[axis];
    low[axis] = first[axis] < 0 ? static_cast<int>(-first[axis]) : 0;
    end[axis] = static_cast<int>(size < kBeyond ? size : kBeyond);
  }
  const auto* const volume =
      static_cast<const std::uint8_t*>(match.volume) + (first[2] * match.size[1] + first[1]) * match.size[0] + first[0];
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < kParts * Box::kWordsY * Box::kWordsZ; i += Box::kThreads) {
    const int row = i / kParts;
    const int x = i % kParts * kPart;
    const int z = row / Box::kWordsY;
    const int y = row - z * Box::kWordsY;
    const bool is_row = y >= low[1] && y < end[1] && z >= low[2] && z < end[2];
    const int low_x = low[0] - x;
    const int end_x = is_row ? end[0] - x : 0;
    const auto* const voxels = volume + (z * match.size[1] + y) * match.size[0] + x;
    std::uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kPart + Box::kPatch - 1; ++k) {
      const bool is_there = k >= low_x && k < end_x;
      word = word >> 8 | static_cast<std::uint32_t>(is_there ? voxels[k] : 0) << 24;
      if (k >= Box::kPatch - 1) words[row * Box::kRow + x + k - (Box::kPatch - 1)] = word;
    }
  }
}

/// A thread a column along z, whose planes' sums of squares add up to norms.
template <int kWindow>
__device__ __forceinline__ void find_box_norms(const PatchArguments& match, const std::int64_t (&first)[3],
                                               const BoxMemory<kWindow>& memory) {
  using Box = BoxBytes<kWindow>;
  const std::int64_t places = match.places[2] - first[2];
  const int low = first[2] < 0 ? static_cast<int>(-first[2]) : 0;
  const int end = static_cast<int>(places < Box::kNormsZ ? places : Box::kNormsZ);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < Box::kNormPlane; i += Box::kThreads) {
    const int y = i / Box::kRow;
    const int x = i - y * Box::kRow;
    const bool is_column = x < Box::kNormsX && y < Box::kNormsY && first[0] + x >= 0 &&
                           first[0] + x < match.places[0] && first[1] + y >= 0 && first[1] + y < match.places[1];
    const int end_here = is_column ? end : 0;
    const std::uint32_t* const words = memory.words + min(i, Box::kNoCandidate - 1);
    std::uint32_t planes[Box::kPatch] = {};
#pragma unroll
    for (int z = 0; z < Box::kWordsZ; ++z) {
      std::uint32_t sum = 0;
#pragma unroll
      for (int row = 0; row < Box::kPatch; ++row) {
        const std::uint32_t word = words[z * Box::kWordPlane + row * Box::kRow];
        sum = __dp4a(word, word, sum);
      }
      planes[z % Box::kPatch] = sum;
      if (z < Box::kPatch - 1) continue;
      const int place = z - (Box::kPatch - 1);
      const std::uint32_t norm = (planes[0] + planes[1]) + (planes[2] + planes[3]);
      memory.norms[place * Box::kNormPlane + i] =
          place >= low && place < end_here ? -static_cast<std::int32_t>(norm / 2) : Box::kNoNorm;
    }
  }
}

/// Words and norms of the tile's region. All threads call it.
template <int kWindow>
__device__ __forceinline__ void load_box(const PatchBoxArguments& box, const BoxMemory<kWindow>& memory) {
  std::int64_t first[3];
  BoxTile(box).find_region(first);
  load_box_words<kWindow>(box.match, first, memory.words);
  __syncthreads();
  find_box_norms(box.match, first, memory);
  __syncthreads();
}

}  // namespace tessera::cuda
