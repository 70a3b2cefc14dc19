// What the kernel of patch_match's packed_key for floats and 16 bits takes, by value; read by host and device.
#pragma once

#include <cstdint>

#include "mathematics/patch_match_screen_shape.h"
#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

using mathematics::kPatchScreenRows;
using mathematics::kPatchScreenSpare;

/// Of a place's voxels: the sum of their squared differences from the mean, and eight times this.
struct alignas(8) PatchScreenNorm {
  float squares;
  float eight_means;
};

/// A tile of references for each group, and how far a sum by fused operations may be from a distance.
struct PatchScreenArguments {
  PatchArguments match;
  std::int32_t lanes[3];   ///< references of a warp along x and z, and warps along y
  std::int32_t region[3];  ///< voxels that a tile's candidates have
  std::int32_t row;        ///< from one row of the region to the next
  std::int32_t plane;      ///< and from one plane
  std::int64_t tiles[2];   ///< along x and y
  std::uint32_t number_mask;
  float most;              ///< a sum beyond it has a distance that is not kept
  float part;              ///< of a sum, that its distance has at least
  float underflow;         ///< and so much less
  PatchScreenNorm* norms;  ///< of all places
};

/// Voxels along each axis of patches whose sums are made of norms and products.
inline constexpr int kScreenNormPatch = 4;
/// Of norms: what threads read of rows beyond the first and the last place.
inline constexpr int kScreenNormsAround = 64;
/// Norms along z that a thread finds.
inline constexpr int kScreenNormRun = 16;

/// References of a warp, at most, whose stacks all lanes find together: one takes about a twentieth of what a warp
/// takes to screen its references by differences.
inline constexpr int kScreenTogether = 12;

/// A group's warps, at most, by the places of a stack.
[[nodiscard]] constexpr int screen_most_warps(int places) {
  return places <= 16 ? 16 : 8;
}

}  // namespace tessera::cuda
