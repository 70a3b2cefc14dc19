// Which tile and how many parts of the sums suit a layer on a device: numbers that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"

namespace tessera::opencl {

/// The values of split_k.
inline constexpr std::array<std::int64_t, 4> kImplicitGemmSplits{1, 2, 4, 8};

/// The preferred values for a problem, of the tiles offered. `local_memory` is settled by the kind of device.
[[nodiscard]] ImplicitGemmTuning choose_implicit_gemm(const CnnLayer& problem, const DeviceFacts& facts,
                                                      std::int64_t local_memory,
                                                      const std::vector<std::int64_t>& tiles);

}  // namespace tessera::opencl
