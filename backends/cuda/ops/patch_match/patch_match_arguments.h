// What the kernels of patch_match take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// A problem of patch_match and its operands; of each axis, x first (PatchAxis of mathematics/patch_match_geometry.h).
struct PatchArguments {
  const void* volume;
  std::int32_t* counts;
  void* distances;
  std::int64_t* indices;
  std::int64_t size[3];
  std::int64_t patch[3];
  std::int64_t places[3];
  std::int64_t window[3];
  std::int64_t step[3];
  std::int64_t references[3];
  std::int64_t start[3];
  std::int64_t last_place[3];
  std::int64_t first_voxel;  ///< of those that are held: what an index has more than a place in them
  std::int64_t largest;      ///< distance that is kept, -1: none is; of integers
  std::int64_t max_patches;
  float largest_float;       ///< the same of floats
  float first_unkept_float;  ///< what is nearer than this is kept; of integers that is largest + 1
  std::int32_t number_bits;  ///< of a candidate's number in a key
  std::int32_t is_second;    ///< of packed_key: stacks are found where a count is below 0 alone
};

/// Rows of bytes that begin at whole words, and the sums of squares of all patches: what dot products need.
struct PatchWordArguments {
  PatchArguments match;
  std::uint32_t* words;       ///< the volume, row_words for each row, and kPatchWordsBehind behind the last one
  std::uint32_t* plane_sums;  ///< of a place's squares along x and y, for every plane of voxels
  std::uint32_t* norms;       ///< of a place's squares
  std::int64_t row_words;
};

/// Threads of a block where each has a reference, or a place of the volume, of its own.
inline constexpr int kPatchThreads = 128;
/// Candidates of a pass of a group, whose distances stand in shared memory.
inline constexpr int kPatchPass = 256;
/// Candidates along x that a thread of packed_key compares at a time.
inline constexpr int kPatchLanes = 12;
/// What such a thread reads behind the last voxel: lanes of words, and one more.
inline constexpr int kPatchWordsBehind = kPatchLanes / 4 + 2;
inline constexpr int kPatchMostPlaces = 64;
inline constexpr int kPatchMostThreads = 256;

}  // namespace tessera::cuda
