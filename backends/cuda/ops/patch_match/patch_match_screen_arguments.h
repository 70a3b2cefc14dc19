// What the kernel of patch_match's packed_key for floats and 16 bits takes, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

/// A tile of references for each group, and how far a sum by fused operations may be from a distance.
struct PatchScreenArguments {
  PatchArguments match;
  std::int32_t lanes[3];   ///< references of a warp along x and z, and warps along y
  std::int32_t region[3];  ///< voxels that a tile's candidates have
  std::int32_t row;        ///< from one row of the region to the next
  std::int32_t plane;      ///< and from one plane
  std::int64_t tiles[2];   ///< along x and y
  std::uint32_t number_mask;
  float most;       ///< a sum beyond it has a distance that is not kept
  float part;       ///< of a sum, that its distance has at least
  float underflow;  ///< and so much less
};

/// Voxels along x that a thread compares its reference's with at a time, at most, and rows of them.
inline constexpr int kScreenMostLanes = 11;
inline constexpr int kScreenRows = 2;
/// A group's warps, at most, by the places of a stack.
[[nodiscard]] constexpr int screen_most_warps(int places) {
  return places <= 16 ? 16 : 8;
}
/// Candidates that are listed beside those that a stack has places for.
inline constexpr int kScreenSpare = 4;
/// Bits of a candidate's number in a listed key, at most.
inline constexpr int kScreenMostNumberBits = 13;

}  // namespace tessera::cuda
