// The variants of cnn_layer on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<CnnLayer> cnn_layer_variants();

[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_winograd();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_implicit_gemm();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_subtile();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_vendor_onednn();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_naive();
[[nodiscard]] backend::Variant<CnnLayer> cnn_layer_sequential();

}  // namespace tessera::cpu_tbb
