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
  std::uint32_t tiles[2];      ///< along x and y
  std::int32_t most_distance;  ///< that is kept; -1: none is
  std::int32_t leaves_rest;    ///< counts of stacks that do not fill up are -1: farther candidates might be kept
};

}  // namespace tessera::cuda
