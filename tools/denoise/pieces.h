// How a volume is cut for non-local means, so that pieces give the bits of the whole, as DenoisePieces are for denoise:
// every piece holds as many planes around its own as decide about their voxels, and one more that may hold anything.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/ops/denoise_pieces.h>
#include <tessera/ops/nonlocal_means.h>

namespace tessera::tool {

/// Where a volume is cut: along the longest axis, of equal ones the slowest.
[[nodiscard]] std::int64_t PerAxis::*longest_axis(const PerAxis& size);

/// What DenoisePieces are, of a problem with all parameters.
class MeansPieces {
 public:
  explicit MeansPieces(const NonlocalMeans& problem);

  [[nodiscard]] const NonlocalMeans& whole() const noexcept { return whole_; }
  [[nodiscard]] std::int64_t PerAxis::*axis() const noexcept { return axis_; }
  [[nodiscard]] std::int64_t planes() const noexcept { return whole_.size.*axis_; }
  [[nodiscard]] std::int64_t margin() const noexcept { return reach_; }
  [[nodiscard]] std::int64_t least() const noexcept { return 1; }
  [[nodiscard]] DenoisePiece cut(std::int64_t first, std::int64_t own) const noexcept;
  [[nodiscard]] NonlocalMeans problem_of(const DenoisePiece& piece) const;
  [[nodiscard]] std::int64_t spare_plane(const DenoisePiece& piece) const noexcept;

 private:
  NonlocalMeans whole_;
  std::int64_t PerAxis::*axis_;
  std::int64_t reach_ = 0;
};

/// Patches no larger than the volume, where the profile's are; sides of Haar's transform stay powers of two.
void fit_patches(Denoise& problem);

}  // namespace tessera::tool
