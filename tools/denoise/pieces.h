// How a volume is cut along one axis, so that pieces that are denoised by themselves give the bits of the whole: every
// piece is handed over with as many planes around it as decide about its voxels.
//
//   held_first     first                 end      held_end
//   |x . . . . . . |#####################| . . . . . . x|       x: a plane that may hold anything
//
// A stack holds patches of its reference's window. It is the whole volume's stack if all that the window reaches is
// there; so a voxel is right if every reference whose window reaches it has a window that is there as a whole. A mean
// is right if its candidates' patches are there.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/ops/denoise.h>
#include <tessera/ops/nonlocal_means.h>

namespace tessera::tool {

struct Piece {
  std::int64_t first = 0;  ///< whose results count
  std::int64_t end = 0;
  std::int64_t held_first = 0;  ///< what is denoised
  std::int64_t held_end = 0;
};

/// Cuts a volume for one step, or for means of voxels; all parameters are given.
class PieceCutter {
 public:
  PieceCutter(const Denoise& problem, const DenoiseStep& step);
  explicit PieceCutter(const NonlocalMeans& problem);

  /// The longest, of equal ones the slowest.
  [[nodiscard]] std::int64_t PerAxis::*axis() const noexcept { return axis_; }
  /// Planes along it.
  [[nodiscard]] std::int64_t planes() const noexcept { return planes_; }
  /// Planes that a piece holds at each end beside its own, at most.
  [[nodiscard]] std::int64_t margin() const noexcept { return reach_ + step_; }
  /// The least planes of a piece: with fewer the operator would count in other units.
  [[nodiscard]] std::int64_t least() const noexcept { return std::min(least_, planes()); }
  /// The piece that begins at `first` and has so many planes, or those that are left. Where less than least() is left
  /// it begins before `first`.
  [[nodiscard]] Piece cut(std::int64_t first, std::int64_t count) const;
  /// The problem of that piece, of the same problem.
  [[nodiscard]] Denoise problem_of(const Piece& piece, const Denoise& whole) const;
  [[nodiscard]] NonlocalMeans problem_of(const Piece& piece, const NonlocalMeans& whole) const;

 private:
  std::int64_t PerAxis::*axis_;
  std::int64_t planes_;
  std::int64_t step_ = 1;
  std::int64_t reach_ = 0;
  std::int64_t least_ = 1;
};

/// Patches no larger than the volume, where the profile's are; sides of Haar's transform stay powers of two.
void fit_patches(Denoise& problem);

}  // namespace tessera::tool
