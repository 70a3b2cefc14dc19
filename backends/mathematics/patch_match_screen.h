// patch_match's screen: before distances are found as they are defined, candidates are listed by sums near them, of
// fused operations. Which references share a tile of voxels in fast memory, and how far a sum may be from a distance.
//
//   region of a tile           whole: the references of 32 threads are 8 along x and 4 along z, or of images 32 along
//   +--------------------+     x; such lines lie one behind the other along y
//   | +----------------+ |
//   | | references     | |     by planes, for cubes of 4 voxels: 8 along x and 4 along y, all in one plane, and of the
//   | +----------------+ |     region as many planes at a time as a patch has
//   +--------------------+
//
// The region: all voxels of their candidates, and what a thread reads beside them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"
#include "mathematics/patch_match_screen_shape.h"

namespace tessera::mathematics {

/// Places of the programs for a stack.
[[nodiscard]] inline int patch_screen_places(const PatchMatch& problem) noexcept {
  return problem.max_patches <= 16 ? 16 : problem.max_patches <= 32 ? 32 : 64;
}

/// Are there programs for this patch that hold a tile's region plane by plane?
[[nodiscard]] inline bool has_patch_screen_by_planes(const PatchMatch& problem) noexcept {
  return problem.patch == PerAxis{4, 4, 4};
}

class PatchScreenTile {
 public:
  /// So many lines of references, by planes a multiple of 4, of a problem that is_screened(), and voxels of so many
  /// bytes.
  PatchScreenTile(const PatchMatch& problem, std::int64_t tile_y, std::int64_t voxel_bytes, bool by_planes) noexcept
      : voxel_bytes_(voxel_bytes), by_planes_(by_planes) {
    const PatchGeometry g(problem);
    const bool fewer_are_less = round_up<std::int64_t>(g.x.window, kPatchScreenFewerLanes) <
                                round_up<std::int64_t>(g.x.window, kPatchScreenLanes);
    lanes_ = fewer_are_less ? kPatchScreenFewerLanes : kPatchScreenLanes;
    const bool is_deep = problem.references().z > 1;
    tile_ = {is_deep || by_planes ? kAlongX : kLine, tile_y, is_deep && !by_planes ? kLine / kAlongX : 1};
    const std::array<std::int64_t, 3> windows{round_up<std::int64_t>(g.x.window, lanes_), g.y.window, g.z.window};
    const PatchAxis* const axes[] = {&g.x, &g.y, &g.z};
    for (std::size_t i = 0; i < 3; ++i) {
      region_[i] = (tile_[i] - 1) * axes[i]->step + windows[i] + axes[i]->patch - 1;
    }
    if (by_planes) {
      region_[2] = problem.patch.z;
      own_ = problem.patch.product();
    }
  }

  /// Candidates that a thread compares at a time.
  [[nodiscard]] int lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::int64_t tile(int axis) const noexcept { return tile_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t threads() const noexcept { return tile_[0] * tile_[1] * tile_[2]; }
  /// Voxels; along z as many as are held at a time.
  [[nodiscard]] std::int64_t region(int axis) const noexcept { return region_[static_cast<std::size_t>(axis)]; }
  /// From one of the region's rows to the next, and from one plane: with a step that is odd, threads of a line that are
  /// next to each other along y or z do not meet in a bank.
  [[nodiscard]] std::int64_t row() const noexcept { return by_planes_ ? apart(region_[0]) : region_[0]; }
  [[nodiscard]] std::int64_t plane() const noexcept {
    return by_planes_ ? row() * region_[1] : apart(region_[0] * region_[1]);
  }
  [[nodiscard]] std::int64_t region_bytes() const noexcept { return plane() * region_[2] * voxel_bytes_; }
  /// With the sums of each thread that it names by number; by planes also with each thread's patch, as floats.
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return region_bytes() + threads() * (lanes_ + own_) * static_cast<std::int64_t>(sizeof(float));
  }
  /// That the references of a problem take.
  [[nodiscard]] double tiles(const PerAxis& references) const noexcept {
    return static_cast<double>(ceil_div(references.x, tile_[0])) *
           static_cast<double>(ceil_div(references.y, tile_[1])) *
           static_cast<double>(ceil_div(references.z, tile_[2]));
  }

 private:
  static constexpr std::int64_t kLine = 32;
  static constexpr std::int64_t kAlongX = 8;

  [[nodiscard]] static std::int64_t apart(std::int64_t voxels) noexcept {
    return round_up(voxels - kAlongX, kLine) + kAlongX;
  }

  std::int64_t voxel_bytes_;
  bool by_planes_;
  int lanes_ = 0;
  std::int64_t own_ = 0;
  std::array<std::int64_t, 3> tile_{};
  std::array<std::int64_t, 3> region_{};
};

/// Of a window that no border cuts.
[[nodiscard]] inline std::int64_t patch_window_candidates(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  return g.x.window * g.y.window * g.z.window;
}

/// May candidates be screened? Not those of bytes, whose distances cost less, nor windows of very many.
[[nodiscard]] inline bool is_screened(const PatchMatch& problem) noexcept {
  if (problem.type == DataType::uint8) return false;
  // Longer axes pass any fast memory, and products of them might overflow.
  constexpr std::int64_t kMostAlong = 1 << 12;
  const PatchGeometry g(problem);
  for (const PatchAxis* axis : {&g.x, &g.y, &g.z}) {
    if (std::max({axis->patch, axis->step, axis->window}) > kMostAlong) return false;
  }
  return patch_window_candidates(problem) <= std::int64_t{1} << kPatchScreenNumberBits;
}

/// A sum of fused operations and a distance. Both add up squares of the same rounded differences. The fused chain
/// rounds once for each voxel; a distance rounds a square, and then once for each voxel of a row, each row of a plane
/// and each plane: to first order each is within its roundings times 2^-24 of the exact sum. A hundredth and 8
/// roundings more bound what is of higher order, and the comparison's. Where squares underflow, a rounding adds up to
/// 2^-150.
struct PatchScreenBounds {
  explicit PatchScreenBounds(const PatchMatch& problem) noexcept
      : number_mask(static_cast<std::uint32_t>(
            std::bit_ceil(static_cast<std::uint64_t>(patch_window_candidates(problem))) - 1)) {
    const auto voxels = static_cast<double>(problem.patch.product());
    const auto depth = static_cast<double>(problem.patch.x + problem.patch.y + problem.patch.z);
    const double off = std::min(1.01 * (voxels + depth + 8) * 0x1p-24, 1.0);
    underflow = problem.type == DataType::float32 ? static_cast<float>(voxels * 0x1p-147) : 0.0F;
    part = std::nextafter(static_cast<float>(1 - off), 0.0F);
    double unkept = static_cast<double>(largest_kept_distance<std::int64_t>(problem)) + 1;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (problem.type == DataType::float32) {
      const auto largest = largest_kept_distance<float>(problem);
      unkept = largest < 0 ? 0 : static_cast<double>(std::nextafter(largest, kInfinity));
    }
    const double reach = (unkept + static_cast<double>(underflow)) / static_cast<double>(part) * (1 + 0x1p-20);
    const bool is_finite = reach < static_cast<double>(std::numeric_limits<float>::max());
    most = unkept <= 0 ? -1.0F : is_finite ? std::nextafter(static_cast<float>(reach), kInfinity) : kInfinity;
  }

  std::uint32_t number_mask;
  float most = 0;       ///< a larger sum's distance is not kept
  float part = 0;       ///< of a sum, that its distance has at least
  float underflow = 0;  ///< and so much less
};

}  // namespace tessera::mathematics
