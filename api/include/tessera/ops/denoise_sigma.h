// How strong the noise of a volume is, for who does not know the sigma that denoise wants.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/export.h>
#include <tessera/ops/patch_match.h>

namespace tessera {

/// The standard deviation of white Gaussian noise in a volume of one channel, in host memory: the median magnitude of
/// its finest diagonal details, those of Haar's wavelet along every axis that has several voxels, over that of a normal
/// distribution (Donoho and Johnstone 1994). Edges and ramps hardly move it; a fine texture does. Details of voxels
/// that are NaN or infinite are left out; 0 if no others are there.
///
/// Computes on the calling thread and takes 1 to 4 bytes a voxel. Error invalid_argument if the volume does not have so
/// many voxels, or fewer than 2.
[[nodiscard]] TESSERA_API double estimate_sigma(std::span<const std::uint8_t> volume, const PerAxis& size);
[[nodiscard]] TESSERA_API double estimate_sigma(std::span<const std::uint16_t> volume, const PerAxis& size);
[[nodiscard]] TESSERA_API double estimate_sigma(std::span<const float> volume, const PerAxis& size);

}  // namespace tessera
