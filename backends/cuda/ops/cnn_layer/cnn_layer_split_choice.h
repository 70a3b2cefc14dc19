// Which tile multiplies the split pixels of cnn_layer's variant implicit_gemm_split, and whether that is faster than
// float32 products.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/kernel.h>
#include <tessera/ops/cnn_layer.h>

#include "backend/variant.h"
#include "cuda_context.h"
#include "ops/cnn_layer/cnn_layer_split_arguments.h"

namespace tessera::cuda {

/// The tunables tile_m and tile_n, which exist in the pairs that are compiled.
[[nodiscard]] std::vector<Tunable> cnn_layer_split_tunables(const CnnLayer& problem, const backend::Device& device);
/// The shape with this tile; there is one.
[[nodiscard]] const SplitMmaShape& cnn_layer_split_shape(std::int64_t tile_m, std::int64_t tile_n);

/// How long the layer takes by the model, its pixels' preparation included.
[[nodiscard]] double cnn_layer_split_microseconds(const CnnLayer& problem, const DeviceLimits& card);

/// Yes where it is ahead of implicit_gemm by the models of both, with a margin, on compute capability 8.0 and 9.0.
[[nodiscard]] backend::Verdict cnn_layer_split_pays(const CnnLayer& problem, const backend::Device& device);

}  // namespace tessera::cuda
