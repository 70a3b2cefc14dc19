// The host code of "fused" and "exact_bytes": which tiles a device is offered, what is prepared, what lies where in the
// workspace, and the launches of a round. The kernels' pictures are in kernel_regression_tiles.cl and _pack.cl.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel_regression/kernel_regression_launch.h"

namespace tessera::opencl {

/// What kernel_regression_products.cl leaves open.
struct RegressionTile {
  std::int64_t queries;
  std::int64_t rows;
  std::int64_t work_queries;  ///< of a work-item
  std::int64_t work_rows;
  std::int64_t width;
  std::int64_t depth;
  std::int64_t numbers = 1;  ///< bytes in a word

  [[nodiscard]] std::int64_t items() const noexcept { return queries / work_queries * (rows / work_rows); }
};

/// Those that the device can run, the preferred one first.
[[nodiscard]] std::vector<RegressionTile> regression_tiles(DataType type, const DeviceFacts& facts);

/// Yes unless the device lacks double, or local memory and groups for the smallest tile. Types and accuracy are the
/// variants' own business.
[[nodiscard]] backend::Verdict check_regression_tiles(const KernelRegression& problem, const DeviceFacts& facts);

/// tile_queries and tile_rows, in pairs.
[[nodiscard]] std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem, const DeviceFacts& facts);

[[nodiscard]] std::unique_ptr<backend::Kernel> make_regression_tiles(const KernelRegression& problem,
                                                                     const OpenclDevice& device, const Tuning& tuning);

}  // namespace tessera::opencl
