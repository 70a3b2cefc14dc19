// The launch that goes before packed_key_lanes' where candidates are screened by sums near their distances: see
// patch_match_screen.cl, whose groups hold all of a tile's region in local memory, and patch_match_screen_planes.cl,
// whose groups hold some planes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mathematics/patch_match_screen.h"
#include "ops/patch_match/patch_match_launch.h"

namespace tessera::opencl {

/// Screen of patch_match_screen_list.cl.
struct PatchScreenShape {
  cl_long tiles[2];
  cl_int lanes[3];
  cl_int region[3];
  cl_int row;
  cl_int plane;
  cl_uint number_mask;
  cl_float most;
  cl_float part;
  cl_float underflow;
};
static_assert(sizeof(PatchScreenShape) == 64, "patch_match_screen_list.cl says so too");

class PatchScreen {
 public:
  /// What there is room for, the preferred one first; none where candidates are not screened.
  [[nodiscard]] static std::vector<PatchScreen> all(const PatchMatch& problem, const DeviceFacts& facts);
  /// The preferred one.
  [[nodiscard]] static std::optional<PatchScreen> of(const PatchMatch& problem, const DeviceFacts& facts);

  [[nodiscard]] bool is_by_planes() const noexcept { return by_planes_; }
  /// With sums of differences.
  [[nodiscard]] OperatorLaunch launch(const PatchMatch& problem, const OpenclDevice& device) const;
  /// Two launches of one that is_by_planes(): the norms of all places, which lie in the workspace, and the screen by
  /// these and products, which costs less.
  [[nodiscard]] std::vector<OperatorLaunch> launches_by_norms(const PatchMatch& problem,
                                                              const OpenclDevice& device) const;
  /// Of the workspace.
  [[nodiscard]] static std::size_t norm_bytes(const PatchMatch& problem) noexcept;
  /// Of so many references along each axis.
  [[nodiscard]] PatchScreenShape shape(const PatchMatch& problem, const PerAxis& references) const;
  [[nodiscard]] NdRange range(const PerAxis& references) const;
  /// Local memory of the region.
  [[nodiscard]] std::size_t region_bytes() const noexcept { return static_cast<std::size_t>(tile_.region_bytes()); }

 private:
  PatchScreen(const mathematics::PatchScreenTile& tile, bool by_planes) : tile_(tile), by_planes_(by_planes) {}

  [[nodiscard]] std::string options(const PatchMatch& problem, bool by_norms) const;
  /// Structs, the region, and the range of a launch whose memory is known.
  void finish(OperatorLaunch& launch, const PatchMatch& problem) const;

  mathematics::PatchScreenTile tile_;
  bool by_planes_;
};

}  // namespace tessera::opencl
