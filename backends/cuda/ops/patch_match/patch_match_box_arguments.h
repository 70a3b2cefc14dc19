// What the kernels of patch_match's box_sums take, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/patch_match/patch_match_arguments.h"

#ifdef __CUDACC__
#define TESSERA_BOX_INDEX __device__ __forceinline__ static constexpr
#else
#define TESSERA_BOX_INDEX static constexpr
#endif

namespace tessera::cuda {

/// The tile of a group of patch_match_box_bytes.cu, and its shared memory.
struct BoxBytes {
  static constexpr int kPatch = 4;
  static constexpr int kWindowX = 11;     ///< the window's width
  static constexpr int kMostWindow = 11;  ///< along y and z
  static constexpr int kHalfX = kWindowX / 2;
  static constexpr int kX = 4;  ///< references of a thread along x
  static constexpr int kY = 2;  ///< and along y
  static constexpr int kReferences = kX * kY;
  static constexpr int kWarpsX = 2;
  static constexpr int kWarpsY = 4;
  static constexpr int kThreads = 32 * kWarpsX * kWarpsY;
  static constexpr int kTileX = kX * kWarpsX;
  static constexpr int kTileY = kY * kWarpsY;
  static constexpr int kTileZ = 32;
  /// Words begin at every place of every candidate's voxels, norms at the candidates.
  static constexpr int kNormsX = kTileX + kMostWindow - 1;
  static constexpr int kNormsY = kTileY + kMostWindow - 1;
  static constexpr int kWordsX = kNormsX + kPatch - 1;
  static constexpr int kWordsY = kNormsY + kPatch - 1;
  static constexpr int kWordsZ = kTileZ + kMostWindow - 1;
  static constexpr int kWords = kWordsX * kWordsY * kWordsZ;
  static constexpr int kNorms = kNormsX * kNormsY * kWordsZ;
  static constexpr int kPlaces = 16;        ///< of a stack
  static constexpr int kSlots = 12;         ///< of a list
  static constexpr int kColumnsAtOnce = 4;  ///< after which a list is asked whether it fills up
  static constexpr int kParts = (kWindowX + kX - 1 + kColumnsAtOnce - 1) / kColumnsAtOnce;  ///< of a row of candidates
  static constexpr unsigned kListBytes = kThreads * 4;
  static constexpr unsigned kSlotBytes = kReferences * kListBytes;
  static constexpr int kExchangeRow = 33;  ///< a key of each lane, and one more against bank conflicts
  static constexpr int kExchange = kPlaces * kExchangeRow;
  static constexpr unsigned kSharedBytes = 4 * (kWords + kNorms) + kSlots * kSlotBytes;
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::int32_t kNoNorm = 1 << 29;  ///< of a candidate that does not exist
  static_assert(kSlots * kSlotBytes >= 4U * (kThreads / 32) * kExchange);

  TESSERA_BOX_INDEX int word_at(int x, int y, int z) { return (x * kWordsY + y) * kWordsZ + z; }
  TESSERA_BOX_INDEX int norm_at(int x, int y, int z) { return (x * kNormsY + y) * kWordsZ + z; }
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
  std::int64_t tiles[3];       ///< along each axis
  std::int32_t first_unkept;   ///< distance
  std::uint32_t number_scale;  ///< 1 << number_bits
};

}  // namespace tessera::cuda

#undef TESSERA_BOX_INDEX
