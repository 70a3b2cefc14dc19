// The tiles that gemm's variant split is compiled with, which of them multiplies prepared operands, what that takes,
// and whether it is faster than float32 products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// A group's tile of C: warps of 32 work-items, each with blocks of 16 rows and of 16 columns, and what is fetched at
/// once, steps of 16 of k (gemm_split_tile.cl).
struct GemmSplitShape {
  std::int64_t warp_groups;  ///< of Hopper, that multiply; or 0: each warp by itself
  std::int64_t warps_m;
  std::int64_t warps_n;
  std::int64_t row_blocks;
  std::int64_t column_blocks;
  std::int64_t steps;
  std::int64_t stages;

  static constexpr std::int64_t kBlock = 16;
  [[nodiscard]] constexpr std::int64_t tile_m() const noexcept { return warps_m * row_blocks * kBlock; }
  [[nodiscard]] constexpr std::int64_t tile_n() const noexcept { return warps_n * column_blocks * kBlock; }
  [[nodiscard]] constexpr std::int64_t items() const noexcept { return warps_m * warps_n * 32; }
  /// Steps of k that the tensor cores add up before a sum goes to a register of float32.
  [[nodiscard]] constexpr std::int64_t panel_depth() const noexcept {
    return warp_groups > 0 ? steps * kBlock : kBlock;
  }
  [[nodiscard]] std::string options() const;
  /// Of whoever prepares operands for it.
  [[nodiscard]] std::string prepare_options() const;
};

/// Steps of k of a row that prepared operands hold: a multiple of what every shape takes at once. Without any, as many
/// zeros, so that kernels which read ahead have what they read.
[[nodiscard]] std::int64_t gemm_split_steps(const Gemm& problem) noexcept;

/// The shape that is expected to be fastest, of those for devices whose warp groups multiply or of the others.
[[nodiscard]] const GemmSplitShape& choose_gemm_split(const Gemm& problem, const DeviceFacts& facts,
                                                      bool has_warp_groups);
/// The device's shape with this tile; there is one.
[[nodiscard]] const GemmSplitShape& gemm_split_shape(const Tuning& tuning, const OpenclDevice& device);
/// The panel depths of the device's shapes.
[[nodiscard]] std::vector<std::int64_t> gemm_split_panel_depths(const OpenclDevice& device);
/// The tunables tile_m and tile_n, which exist in the pairs that are compiled for the device.
[[nodiscard]] std::vector<Tunable> gemm_split_tunables(const Gemm& problem, const OpenclDevice& device);

/// Yes where it is faster than register_local, by the models of both.
[[nodiscard]] backend::Verdict gemm_split_pays(const Gemm& problem, const OpenclDevice& device);

}  // namespace tessera::opencl
