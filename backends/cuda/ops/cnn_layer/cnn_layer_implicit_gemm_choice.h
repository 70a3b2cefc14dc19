// The shapes that cnn_layer's variant implicit_gemm is compiled for, and which of them computes a layer, over how many
// groups.
#pragma once

#include <tessera/ops/cnn_layer.h>

#include <cstdint>
#include <span>
#include <vector>

#include "cuda_context.h"
#include "ops/gemm/gemm_register_choice.h"

namespace tessera::cuda {

/// What is compiled for a type; the first has the smallest tile.
[[nodiscard]] std::span<const GemmRegisterImage> cnn_layer_implicit_gemm_images(DataType type);

/// Over how many groups channels and filter can be split: as many as have steps of their own and memory for their sums.
[[nodiscard]] std::vector<std::int64_t> cnn_layer_implicit_gemm_splits(const CnnLayer& problem);

/// The configuration that is expected to be fastest, and how long the layer takes with it, by a model of the time.
[[nodiscard]] GemmRegisterEstimate fastest_cnn_layer_implicit_gemm(const CnnLayer& problem, const DeviceLimits& card);

}  // namespace tessera::cuda
