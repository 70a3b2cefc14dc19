// The variants of gemm on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<Gemm> gemm_variants();

[[nodiscard]] backend::Variant<Gemm> gemm_thin();
[[nodiscard]] backend::Variant<Gemm> gemm_split();
[[nodiscard]] backend::Variant<Gemm> gemm_split_k();
[[nodiscard]] backend::Variant<Gemm> gemm_register();
[[nodiscard]] backend::Variant<Gemm> gemm_tiled();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_onednn();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_blis();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_openblas();
[[nodiscard]] backend::Variant<Gemm> gemm_naive();
[[nodiscard]] backend::Variant<Gemm> gemm_sequential();

}  // namespace tessera::cpu_tbb
