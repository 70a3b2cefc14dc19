// Shepp and Logan's phantom of a head in three dimensions, and noise on it: a test volume whose clean voxels are known.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/ops/patch_match.h>

namespace tessera::tool {

/// What voxels span: the brightest ellipsoid, the skull, has this value.
inline constexpr double kPhantomRange = 255;

/// Plane z of the phantom, row by row: 0 outside, bone kPhantomRange. The volume spans the cube from -1 to 1, a voxel
/// is what its middle shows.
[[nodiscard]] std::vector<double> phantom_plane(const PerAxis& size, std::int64_t z);

/// What noise adds to a voxel: about normally distributed, of mean 0, never beyond six times sigma. The same on every
/// machine.
[[nodiscard]] double phantom_noise(std::uint64_t seed, std::uint64_t voxel, double sigma);

}  // namespace tessera::tool
