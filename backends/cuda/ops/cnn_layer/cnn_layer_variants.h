// The variants of cnn_layer on CUDA, each in its own file.
#pragma once

#include <tessera/ops/cnn_layer.h>

#include "backend/variant.h"

namespace tessera::cuda {

[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_winograd_split();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_winograd();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_implicit_gemm_split();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_implicit_gemm();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_subtile();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_vendor_cudnn();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_naive();

/// Best first.
[[nodiscard]] backend::VariantList<CnnLayer> cnn_layer_variants();

}  // namespace tessera::cuda
