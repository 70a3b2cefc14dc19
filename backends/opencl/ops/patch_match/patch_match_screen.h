// The launch that goes before packed_key_lanes' where candidates are screened by sums near their distances: see
// patch_match_screen.cl.
#pragma once

#include <cstdint>
#include <optional>

#include "mathematics/patch_match_screen.h"
#include "ops/patch_match/patch_match_launch.h"

namespace tessera::opencl {

/// Screen of patch_match_screen.cl.
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
static_assert(sizeof(PatchScreenShape) == 64, "patch_match_screen.cl says so too");

class PatchScreen {
 public:
  /// None where candidates are not screened, or local memory has no room for a tile.
  [[nodiscard]] static std::optional<PatchScreen> of(const PatchMatch& problem, const DeviceFacts& facts);

  [[nodiscard]] OperatorLaunch launch(const PatchMatch& problem, const OpenclDevice& device) const;
  /// Of so many references along each axis.
  [[nodiscard]] PatchScreenShape shape(const PatchMatch& problem, const PerAxis& references) const;
  [[nodiscard]] NdRange range(const PerAxis& references) const;
  /// Local memory of the region.
  [[nodiscard]] std::size_t region_bytes() const noexcept { return static_cast<std::size_t>(tile_.region_bytes()); }

 private:
  explicit PatchScreen(const mathematics::PatchScreenTile& tile) : tile_(tile) {}

  mathematics::PatchScreenTile tile_;
};

}  // namespace tessera::opencl
