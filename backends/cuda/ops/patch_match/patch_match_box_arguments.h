// What the kernels of patch_match's box_sums take, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

/// The tile of a group of patch_match_box_bytes.cu, and its shared memory.
struct BoxBytes {
  static constexpr int kPatch = 4;
  static constexpr int kMostWindow = 11;
  static constexpr int kUnitX = 2;  ///< references of a warp
  static constexpr int kUnitY = 2;
  static constexpr int kUnitZ = 4;
  static constexpr int kReferences = kUnitX * kUnitY * kUnitZ;
  static constexpr int kWarpsX = 4;
  static constexpr int kWarpsY = 2;
  static constexpr int kThreads = 32 * kWarpsX * kWarpsY;
  static constexpr int kTileX = kUnitX * kWarpsX;
  static constexpr int kTileY = kUnitY * kWarpsY;
  static constexpr int kTileZ = kUnitZ;
  static constexpr int kColumnsX = 4;  ///< candidates that a warp compares at a time
  static constexpr int kColumnsY = 2;
  static constexpr int kSteps = kUnitZ + kMostWindow - 1;  ///< along z
  /// Words begin at every place of every candidate's voxels, norms at the candidates.
  static constexpr int kNormsX = kTileX + kMostWindow - 1;
  static constexpr int kNormsY = kTileY + kMostWindow - 1;
  static constexpr int kNormsZ = kTileZ + kMostWindow - 1;
  static constexpr int kWordsY = kNormsY + kPatch - 1;
  static constexpr int kWordsZ = kNormsZ + kPatch - 1;
  static constexpr int kRow = 20;  ///< from one row to the next: five rows of four words lie in banks of their own
  static constexpr int kWordPlane = kRow * kWordsY;
  static constexpr int kNormPlane = kRow * kNormsY;
  static constexpr int kNoCandidate = kNormsX;  ///< beside the first row, along all of z: a norm beyond every limit
  static constexpr int kWords = kWordPlane * kWordsZ;
  static constexpr int kNorms = kNormPlane * kNormsZ;
  static constexpr int kOddBytes = 4224;
  static constexpr int kPlaces = 16;  ///< of a stack
  static constexpr int kSlots = 8;    ///< of a list, each of two candidates
  static constexpr int kKeys = 2 * kSlots;
  static constexpr unsigned kSlotBytes = 32 * 16;
  static constexpr unsigned kListBytes = kSlots * kSlotBytes;
  static constexpr unsigned kWarpBytes = 2 * kListBytes;
  static constexpr unsigned kSharedBytes = 4 * (kWords + kNorms) + kOddBytes + kThreads / 32 * kWarpBytes;
  static constexpr int kNumberBits = 12;  ///< of a candidate in a key
  static constexpr int kMostDistance = (1 << (32 - kNumberBits)) - 2;
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::int32_t kNoNorm = -(1 << 29);  ///< of a candidate that does not exist, halved and negative
  static_assert(kNorms <= 1 << kNumberBits && kNormsX + 2 <= kRow);
  static_assert(kOddBytes >= (1 << kNumberBits) + kTileY * kRow + kTileX);
};

/// The shared memory of patch_match_box_halves.cu, whose tile is that of bytes.
struct BoxHalves {
  static constexpr int kRow = BoxBytes::kRow;  ///< of words and of norms
  static constexpr int kPlane = BoxBytes::kWordPlane;
  static constexpr int kNoCandidate = BoxBytes::kNormsX;
  static constexpr int kWords = kPlane * BoxBytes::kWordsZ;
  static constexpr int kNorms = kPlane * BoxBytes::kNormsZ;
  static constexpr int kVoxelsX = BoxBytes::kNormsX + BoxBytes::kPatch - 1;
  static constexpr int kVoxelRow = kVoxelsX;
  static constexpr int kVoxelPlane = 386;  ///< the 16 rows of a patch begin in banks of their own
  static constexpr int kVoxels = kVoxelPlane * BoxBytes::kWordsZ;
  static constexpr int kWarps = BoxBytes::kThreads / 32;
  static constexpr int kColumnsAlongX = 3;  ///< of a walk, at most
  static constexpr int kColumns = kColumnsAlongX * 6;
  static constexpr int kPlaces = BoxBytes::kPlaces;
  static constexpr int kTogether = 32;    ///< listed candidates whose distances are found at a time
  static constexpr int kSumStride = 17;   ///< of a candidate's 16 rows
  static constexpr int kNumberBits = 13;  ///< of a candidate's first voxel in a key
  /// Of a warp: what it notes of columns, or sums of rows and keys.
  static constexpr unsigned kNotedBytes = kColumns * 2 * 32 * 4;
  static constexpr unsigned kSumBytes = kTogether * kSumStride * 8;
  static constexpr int kKeys = 3 * kPlaces;
  static constexpr int kNearStride = kTogether + 4;  ///< halves of a warp lie in banks of their own
  static constexpr unsigned kWarpBytes = kSumBytes + kKeys * 8 + 2 * kNearStride * 4;
  static constexpr unsigned kScreenBytes = 4 * (kWords + kNorms);
  static constexpr unsigned kSharedBytes = kScreenBytes + kWarps * kWarpBytes + 4 * kVoxels;
  /// Of a warp's lists, where words and norms were, and candidates that they hold: what is behind a list's end is read.
  static constexpr int kListStride = static_cast<int>(kScreenBytes / 2 / kWarps);
  static constexpr int kListed = kListStride - kTogether;
  static_assert(kNotedBytes <= kWarpBytes && kScreenBytes % 16 == 0 && kWarpBytes % 16 == 0);
  static_assert((kSumBytes + kKeys * 8) % 16 == 0 && kNearStride % 4 == 0);
  static_assert(kVoxelPlane * BoxBytes::kNormsZ <= 1 << kNumberBits && kPlane % 2 == 0);
  static_assert(kVoxelRow * BoxBytes::kWordsY <= kVoxelPlane && kSumBytes >= 2 * kTogether * 8);
};

/// Threads of a group of patch_match_box_sums.cu, how many stand in a line, and the places of each.
inline constexpr int kPatchBoxThreads = 256;
inline constexpr int kPatchBoxLineThreads = 8;
inline constexpr int kPatchBoxLines = kPatchBoxThreads / kPatchBoxLineThreads;
inline constexpr int kPatchBoxRun = 4;

struct PatchTileArguments {
  PatchArguments match;
  std::int64_t tiles[2];  ///< along x and y
  std::int32_t columns;   ///< places of a line in shared memory, whole runs
  std::int32_t most_y;    ///< references of the largest tile
  std::int32_t most_z;
  std::int32_t rows;  ///< of voxels that its references reach
  std::int32_t planes;
};

struct PatchBoxArguments {
  PatchArguments match;
  std::uint32_t tiles[2];          ///< along x and y
  std::int32_t most_distance = 0;  ///< of bytes, that is kept; -1: none is
  std::int32_t leaves_rest = 0;  ///< the same: counts of stacks that do not fill up are -1, farther ones might be kept
};

}  // namespace tessera::cuda
