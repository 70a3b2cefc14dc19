// The launch of patch_match's packed_key that screens candidates by sums near their distances, and finds the stacks of
// nearly all references: see patch_match_screen.cu.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_screen_arguments.h"

namespace tessera::cuda {

/// A group's tile of references, and the voxels that it holds in shared memory.
class ScreenTile {
 public:
  ScreenTile(const PatchMatch& problem, std::int64_t tile_y) noexcept;

  [[nodiscard]] std::int64_t bytes() const noexcept;
  /// Candidates along x that a thread compares at a time.
  [[nodiscard]] int lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::int64_t tile(int axis) const noexcept { return tile_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t threads() const noexcept { return tile_[0] * tile_[1] * tile_[2]; }
  /// Voxels.
  [[nodiscard]] std::int64_t region(int axis) const noexcept { return region_[static_cast<std::size_t>(axis)]; }
  /// From one of the region's planes to the next.
  [[nodiscard]] std::int64_t plane() const noexcept;

  /// Lines of references that a tile may have; none where candidates are not screened: of bytes, of windows with many
  /// candidates, and where shared memory holds too few tiles.
  [[nodiscard]] static std::vector<std::int64_t> all(const PatchMatch& problem, const DeviceLimits& limits);
  /// Those that are fastest, 0: none is.
  [[nodiscard]] static std::int64_t best(const PatchMatch& problem, const DeviceLimits& limits);

 private:
  int lanes_;
  std::array<std::int64_t, 3> tile_;
  std::array<std::int64_t, 3> region_;
};

class ScreenMatch {
 public:
  ScreenMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem, std::int64_t tile_y);

  /// The stacks of the references of `match`; counts of those that it leaves are -1.
  void run(backend::Queue& queue, const PatchArguments& match) const;

 private:
  ScreenTile tile_;
  PatchScreenArguments arguments_{};
  CudaFunction function_;
};

}  // namespace tessera::cuda
