// How far two volumes are apart: their largest difference, PSNR and SSIM.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <tessera/ops/patch_match.h>

#include "tools/volumes/volume_file.h"

namespace tessera::tool {

/// Fills in a plane of z, row by row.
using PlaneSource = std::function<void(std::int64_t z, std::span<double> plane)>;

/// SSIM of two volumes of one channel, as Wang, Bovik, Sheikh and Simoncelli defined it for images ("Image quality
/// assessment: from error visibility to structural similarity", 2004): Gaussian windows of 11 voxels along each axis,
/// deviation 1.5, constants 0.01 and 0.03 of `peak`. The mean over all windows that lie wholly inside; along axes of
/// fewer voxels a window is as long as they are. Each plane is asked for once, in their order.
[[nodiscard]] double structural_similarity(const PlaneSource& one, const PlaneSource& other, const PerAxis& size,
                                           double peak);

struct Likeness {
  double peak = 0;         ///< what PSNR and SSIM relate to
  double psnr_db = 0;      ///< infinite for equal volumes
  double ssim = 0;         ///< the mean of channels and volumes
  double difference = 0;   ///< the largest
  std::int64_t frame = 0;  ///< where that is first
  std::int64_t channel = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;
  std::int64_t left_out = 0;  ///< voxels that are not finite in one of the two
};

/// Reads both files. `peak` 0: 255 times the scale of bytes, else what the finite numbers of the first volume of the
/// first file span. SSIM is NaN where a voxel is left out. Error invalid_argument for files of different sizes, and for
/// a span of 0; Interrupted.
[[nodiscard]] Likeness likeness_of(VolumeFile& one, VolumeFile& other, double peak);

}  // namespace tessera::tool
