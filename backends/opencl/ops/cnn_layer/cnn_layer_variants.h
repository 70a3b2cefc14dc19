// cnn_layer on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/cnn_layer.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<CnnLayer> cnn_layer_variants();

[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_winograd_split();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_winograd();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_implicit_gemm_panels();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_implicit_gemm_local();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_subtile();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_naive();

}  // namespace tessera::opencl
