// Which tile and how many parts of k suit a problem on a device: numbers that were measured.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/gemm/gemm_local_tile.h"
#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// The preferred values of register_local, of the shapes offered, which are at least one.
struct LocalTuning {
  LocalTileShape shape;
  std::int64_t split_k = 1;
  double microseconds = 0;  ///< that it is expected to take on an H200
};
[[nodiscard]] LocalTuning choose_register_local(const Gemm& problem, const DeviceFacts& facts,
                                                const std::vector<LocalTileShape>& shapes);

/// Those of register_panels, of the tiles offered, ascending.
struct PanelTuning {
  std::int64_t tile_n = 0;
  std::int64_t split_k = 1;
};
[[nodiscard]] PanelTuning choose_register_panels(const Gemm& problem, const DeviceFacts& facts,
                                                 const std::vector<std::int64_t>& tiles);

/// split_k of register_dots.
[[nodiscard]] std::int64_t choose_register_dots(const Gemm& problem, const DeviceFacts& facts);

}  // namespace tessera::opencl
