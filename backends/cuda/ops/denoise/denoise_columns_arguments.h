// What the kernels of denoise_columns.cu take beside a step's arguments; read by host and device.
#pragma once

#include <cstdint>

#include "ops/denoise/denoise_arguments.h"

namespace tessera::cuda {

/// The columns of a round of references. Of each axis, x first.
struct DenoiseColumnArguments {
  DenoiseArguments step;
  std::int32_t first[3];       ///< reference of the round, counted in the volume
  std::int32_t references[3];  ///< of the round
  std::int32_t apart[3];       ///< voxels from one reference to the next
  std::int32_t window[3];
  std::int32_t places[3];  ///< that a patch has in the volume
  std::int32_t tile[2];    ///< references of a layer, along x and y
  std::int32_t columns[2];
  std::int32_t layers;      ///< of a block
  std::int32_t ring;        ///< slices that a layer's windows reach
  std::int32_t voxel_ring;  ///< and the next one's
  std::int32_t row;         ///< voxels from one row of the region to the next
  std::int32_t slice;       ///< voxels from one slice of the region to the next
};

/// Warps of a block, at most: the Wiener filter's threads keep two patches in registers.
[[nodiscard]] constexpr int column_warps(bool is_wiener) {
  return is_wiener ? 12 : 16;
}
/// Floats from a patch to the next one's in a warp's shared memory: half a patch, where its sums stand, and so much
/// that eight threads that store four floats each meet in no bank.
inline constexpr int kColumnPitch = 36;
/// Bytes of shared memory: of a warp's patches, and behind the region's voxels, of each volume a word.
inline constexpr std::int64_t kColumnWarpBytes = 4 * 32 * kColumnPitch;
inline constexpr std::int64_t kColumnBytesBehind = 4;

}  // namespace tessera::cuda
