// What the kernels of patch_match's box_sums take, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

/// References of a group and of its warps, a reference at every place.
struct BoxGroup {
  static constexpr int kPatch = 4;
  static constexpr int kMostWindow = 11;
  static constexpr int kPlaces = 16;  ///< of a stack
  static constexpr int kUnitX = 2;    ///< references of a warp
  static constexpr int kUnitY = 2;
  static constexpr int kUnitZ = 4;
  static constexpr int kReferences = kUnitX * kUnitY * kUnitZ;
  static constexpr int kWarpsX = 4;
  static constexpr int kWarpsY = 2;
  static constexpr int kWarps = kWarpsX * kWarpsY;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kTileX = kUnitX * kWarpsX;
  static constexpr int kTileY = kUnitY * kWarpsY;
  static constexpr int kTileZ = kUnitZ;
  static constexpr int kColumnsX = 4;  ///< candidates that a warp compares at a time
  static constexpr int kColumnsY = 2;
};

/// What its references reach in windows of this side, 0: in any up to kMostWindow.
template <int kWindow>
struct BoxRegion : BoxGroup {
  static constexpr int kMost = kWindow == 0 ? kMostWindow : kWindow;
  static constexpr int kSteps = kUnitZ + kMost - 1;                            ///< of a walk along z
  static constexpr int kColumnsAlongX = (kUnitX + kMost - 2) / kColumnsX + 1;  ///< of a walk, at most
  static constexpr int kColumnsAlongY = (kUnitY + kMost - 2) / kColumnsY + 1;
  /// Words begin at every place of every candidate's voxels, norms at the candidates.
  static constexpr int kNormsX = kTileX + kMost - 1;
  static constexpr int kNormsY = kTileY + kMost - 1;
  static constexpr int kNormsZ = kTileZ + kMost - 1;
  static constexpr int kWordsY = kNormsY + kPatch - 1;
  static constexpr int kWordsZ = kNormsZ + kPatch - 1;
};

/// The shared memory of patch_match_box_bytes.cu.
template <int kWindow>
struct BoxBytes : BoxRegion<kWindow> {
  using Region = BoxRegion<kWindow>;
  /// From one row to the next: five rows of four words lie in banks of their own.
  static constexpr int kRow = Region::kNormsX == 16 ? 18 : Region::kNormsX;
  static constexpr int kNoCandidate = kRow * Region::kNormsY;  ///< behind a plane, two: norms beyond every limit
  static constexpr int kNormPlane = kNoCandidate + 2;
  static constexpr int kWordPlane = kRow * Region::kWordsY;
  static constexpr int kNorms = kNormPlane * Region::kNormsZ;
  static constexpr int kWords = kWordPlane * Region::kWordsZ;
  static constexpr std::int32_t kNoNorm = -(1 << 29);  ///< of a candidate that does not exist, halved and negative
  static constexpr int kNotes = 24;                    ///< words that a lane notes of columns, at most
  static constexpr int kListed = 768;                  ///< candidates of a warp's lists
  static constexpr unsigned kNoteBytes = 32 * kNotes * 4;
  static constexpr unsigned kWarpBytes = kNoteBytes + 2 * kListed;
  static constexpr unsigned kTileBytes = 4 * ((kWords + kNorms + 3) / 4 * 4);
  static constexpr unsigned kSharedBytes = kTileBytes + Region::kWarps * kWarpBytes;
  static constexpr int kGroups = 3;  ///< that share a multiprocessor
  /// A candidate's number: where it is along z, and its place in the plane.
  static constexpr int kPlaneBits = 8;
  static constexpr int kNumberBits = kPlaneBits + 4;
  static constexpr int kMostOfKeys = (1 << (32 - kNumberBits)) - 2;  ///< distance
  static_assert(kNoCandidate <= 1 << kPlaneBits && Region::kNormsZ <= 1 << (kNumberBits - kPlaneBits));
  static_assert(kRow % 2 == 0 && kWords % 2 == 0 && kNoteBytes >= 4 * Region::kReferences * (Region::kPlaces + 1));
  static_assert(kNotes >= Region::kPlaces && 2 * Region::kMost + 6 <= 32);
};

/// Voxels from one plane of so many rows to the next, so that four planes lie in banks of their own.
constexpr int box_plane(int row, int rows) {
  int plane = row * rows;
  while (plane % 16 != 8) ++plane;
  return plane;
}

/// The shared memory of patch_match_box_halves.cu.
template <int kWindow>
struct BoxHalves : BoxRegion<kWindow> {
  using Region = BoxRegion<kWindow>;
  /// From one row to the next, of words and of norms: five rows of four words lie in banks of their own. Two words
  /// behind a candidate's are read.
  static constexpr int kRow = Region::kNormsX == 14 ? 18 : Region::kNormsX + 2;
  static constexpr int kPlane = kRow * Region::kWordsY;
  static constexpr int kWords = kPlane * Region::kWordsZ;
  static constexpr int kNorms = kPlane * Region::kNormsZ;
  static constexpr int kVoxelsX = Region::kNormsX + Region::kPatch - 1;
  static constexpr int kVoxelRow = kVoxelsX;
  static constexpr int kVoxelPlane = box_plane(kVoxelRow, Region::kWordsY);
  static constexpr int kVoxels = kVoxelPlane * Region::kWordsZ;
  static constexpr int kColumns = Region::kColumnsAlongX * Region::kColumnsAlongY;
  static constexpr int kTogether = 32;    ///< listed candidates that a reference is sorted of at a time
  static constexpr int kNumberBits = 13;  ///< of a candidate's first voxel in a key
  /// Of a warp: what it notes of columns, or sorted candidates, or keys, and distances.
  static constexpr unsigned kNotedBytes = kColumns * 2 * 32 * 4;
  static constexpr unsigned kStackBytes = 4 * Region::kReferences * (Region::kPlaces + 1);
  static constexpr int kSlotStride = kTogether + 2;  ///< of a reference's distances: lanes lie in banks of their own
  static constexpr int kDistances = Region::kReferences * kSlotStride;  ///< five bytes each
  static constexpr unsigned kFoundBytes = kStackBytes + 5 * kDistances;
  static constexpr unsigned kWarpBytes = kNotedBytes > kFoundBytes ? kNotedBytes : kFoundBytes;
  static constexpr unsigned kScreenBytes = 4 * ((kWords + kNorms + 3) / 4 * 4);
  static constexpr unsigned kSharedBytes = kScreenBytes + Region::kWarps * kWarpBytes + 4 * kVoxels;
  /// That share a multiprocessor of 228 KiB, of which a group takes 1 KiB beside its own.
  static constexpr int kGroups = kSharedBytes <= 74 * 1024 ? 3 : 2;
  /// Of a warp's lists, where words and norms were, and candidates that they hold: what is behind a list's end is read.
  static constexpr int kListStride = static_cast<int>(kScreenBytes / 2 / Region::kWarps);
  static constexpr int kListed = kListStride - kTogether;
  static_assert(kScreenBytes % 16 == 0 && kWarpBytes % 16 == 0);
  static_assert(8 * (kTogether + 2 * Region::kPlaces) <= kStackBytes);
  static_assert(4 * (kWords + 3 * Region::kWarps) <= Region::kWarps * kWarpBytes);  // squares of rows lie there, too
  static_assert(kVoxelPlane * Region::kNormsZ <= 1 << kNumberBits && kPlane % 2 == 0);
  static_assert(kVoxelRow * Region::kWordsY <= kVoxelPlane);
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
};

}  // namespace tessera::cuda
