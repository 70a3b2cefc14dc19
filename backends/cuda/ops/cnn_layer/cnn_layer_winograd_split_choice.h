// Which of the compiled tiles multiplies for cnn_layer's variant winograd_split, and what its sums' roundings count.
#pragma once

#include <cstdint>

#include <tessera/ops/cnn_layer.h>
#include <tessera/ops/gemm.h>

#include "cuda_context.h"
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"

namespace tessera::cuda {

/// The products of so many tiles, whose rows are `leading` elements apart.
[[nodiscard]] Gemm winograd_split_product(const CnnLayer& problem, const CnnLayerWinogradTiling& tiling,
                                          std::int64_t tiles, std::int64_t leading);

/// May products be transformed down before they are stored? Where its roundings leave the layer the same tiles.
[[nodiscard]] bool winograd_split_may_transform_down(const CnnLayer& problem);

/// Of a sum over the channels, with a tile of products, or with the one that has most.
[[nodiscard]] double winograd_split_roundings(const CnnLayer& problem, const GemmSplitShape& shape);
[[nodiscard]] double winograd_split_roundings(const CnnLayer& problem);

/// The tile of products for chunks of so many tiles of the layer.
[[nodiscard]] const GemmSplitShape& choose_winograd_split(const CnnLayer& problem, const CnnLayerWinogradTiling& tiling,
                                                          std::int64_t chunk, const DeviceLimits& card);
/// The one of this size; there is one.
[[nodiscard]] const GemmSplitShape& winograd_split_shape(std::int64_t tile_m, std::int64_t tile_n);

}  // namespace tessera::cuda
