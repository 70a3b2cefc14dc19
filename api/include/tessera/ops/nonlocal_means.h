// The operator nonlocal_means: removes white noise from a volume or an image by giving every voxel the mean of those
// around it, weighed by how much their patches look alike (Buades, Coll and Morel 2005).
#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/export.h>
#include <tessera/ops/patch_match.h>
#include <tessera/types.h>

namespace tessera {

/// Estimates a volume without its noise, white and Gaussian with a standard deviation of `sigma`.
///
/// The candidates of a voxel at x are those from x - window.x / 2 (rounded down) to window.x places on, along each
/// axis; those out of the volume are left out. The patch of a voxel at x are the voxels from x - patch.x / 2 (rounded
/// down) to patch.x places on; beyond its borders the volume is mirrored, again and again: a, b, c, c, b, a, a, b, ...
///
///   distance = sum over a patch's n voxels, of all channels, of (voxel's - candidate's)^2
///   weight   = exp(-max(distance - 2 sigma^2 n, 0) / (strength^2 sigma^2 n))
///   result   = sum over candidates of weight * candidate / sum over candidates of weight
///
/// Every operation is defined (docs/decisions/0020): the result has the same bits on every device. Voxels become whole
/// numbers, of float32 multiples of 2^-19 of a power of two above the volume's largest finite magnitude. Weights are
/// multiples of 2^-20; those of less than half of that are 0. A voxel that is NaN or infinite is returned as it is, and
/// no voxel whose patch holds one looks like another that has none there. Channels have one weight for all. With a
/// sigma of 0 the result is the volume, bit for bit; with a very large one all candidates weigh the same.
struct NonlocalMeans {
  static constexpr std::string_view kName = "nonlocal_means";
  static constexpr std::int64_t kLargestPatch = 512;  ///< voxels
  /// Candidates of a voxel: their weighted sums are exact in 64 bits.
  static constexpr std::int64_t kMostCandidates = std::int64_t{1} << 22;

  PerAxis size = {};                  ///< voxels of the volume, at least 1 along each axis; z is 1 for an image
  std::int64_t channels = 1;          ///< 1, or 3: volumes of the colours, one behind the other
  double sigma = 0;                   ///< of the noise, in units of the voxels; finite, at least 0
  double strength = 0;                ///< 0: the usual one, kUsualStrength; finite
  PerAxis patch = {0, 0, 0};          ///< voxels; 0: 7 of an image, 3 of a volume, 1 where the volume has one voxel
  PerAxis window = {0, 0, 0};         ///< candidates along each axis; 0: 21 of an image, 11 of a volume
  DataType type = DataType::float32;  ///< of the volume: uint8, uint16 or float32

  static constexpr double kUsualStrength = 0.7;

  /// What it is run with. No operand may overlap another.
  struct Operands {
    ConstOperand volume;  ///< channels x size.z x size.y x size.x
    Operand result;       ///< like the volume
  };

  bool operator==(const NonlocalMeans&) const = default;
};

/// The problem with every parameter that is 0 filled in; nothing is checked.
[[nodiscard]] TESSERA_API NonlocalMeans with_usual_parameters(const NonlocalMeans& problem);

}  // namespace tessera
