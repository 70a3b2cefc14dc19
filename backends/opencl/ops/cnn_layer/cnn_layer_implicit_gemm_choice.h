// Which tile and how many parts of the sums suit a layer on a device: numbers that were measured.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"
#include "ops/gemm/gemm_local_tile.h"

namespace tessera::opencl {

/// The preferred values for a problem, of the shapes offered, which are at least one.
[[nodiscard]] ImplicitGemmTuning choose_implicit_gemm_local(const CnnLayer& problem, const DeviceFacts& facts,
                                                            const std::vector<LocalTileShape>& shapes);
/// Output channels of a panel, as a processor is offered them: two and three vectors, and one for a layer that has no
/// more.
[[nodiscard]] std::vector<std::int64_t> implicit_gemm_panels(const CnnLayer& problem, const DeviceFacts& facts);
/// Output channels that implicit_gemm_panels computes, those that fill up the last panel included, by the best panel.
[[nodiscard]] std::int64_t implicit_gemm_padded_outputs(const CnnLayer& problem,
                                                        const std::vector<std::int64_t>& panels);
[[nodiscard]] ImplicitGemmTuning choose_implicit_gemm_panels(const CnnLayer& problem, const DeviceFacts& facts,
                                                             const std::vector<std::int64_t>& tiles);

}  // namespace tessera::opencl
