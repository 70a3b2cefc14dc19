// The launch of patch_match's packed_key that screens candidates by sums near their distances, and finds the stacks of
// nearly all references: see patch_match_screen.cu.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mathematics/patch_match_screen.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_screen_arguments.h"

namespace tessera::cuda {

/// Lines of references that a tile may have, and 0, which is that candidates are not screened; none where they cannot
/// be, or no tile fits.
[[nodiscard]] std::vector<std::int64_t> screen_lines(const PatchMatch& problem, const DeviceLimits& limits);
/// Those that are fastest: 0 where shared memory holds too few tiles to gain.
[[nodiscard]] std::int64_t best_screen_lines(const PatchMatch& problem, const DeviceLimits& limits);

class ScreenMatch {
 public:
  ScreenMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem, std::int64_t tile_y);

  /// Memory for norms; 0 where sums are not made of them.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Norms of a volume.
  void prepare(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const;
  /// The stacks of the references of `match`; counts of those that it leaves are -1.
  void run(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const;

 private:
  [[nodiscard]] PatchScreenArguments with_memory(const PatchArguments& match, const backend::Slice& workspace) const;

  mathematics::PatchScreenTile tile_;
  PatchScreenArguments arguments_{};
  CudaFunction function_;
  std::optional<CudaFunction> norms_;
  std::int64_t places_;
};

}  // namespace tessera::cuda
