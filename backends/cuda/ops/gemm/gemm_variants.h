// The variants of gemm on CUDA, each in its own file but for the two with square tiles and those by fp16.
#pragma once

#include <tessera/ops/gemm.h>

#include "backend/variant.h"

namespace tessera::cuda {

/// Best first.
[[nodiscard]] backend::VariantList<Gemm> gemm_variants();

[[nodiscard]] backend::Variant<Gemm> gemm_thin();
[[nodiscard]] backend::Variant<Gemm> gemm_shallow();
[[nodiscard]] backend::Variant<Gemm> gemm_scaled_half();
[[nodiscard]] backend::Variant<Gemm> gemm_split();
[[nodiscard]] backend::Variant<Gemm> gemm_scaled_half_mma();
[[nodiscard]] backend::Variant<Gemm> gemm_split_mma();
[[nodiscard]] backend::Variant<Gemm> gemm_register();
[[nodiscard]] backend::Variant<Gemm> gemm_tiled();
[[nodiscard]] backend::Variant<Gemm> gemm_coalesced_a();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_cublas();
[[nodiscard]] backend::Variant<Gemm> gemm_naive();

}  // namespace tessera::cuda
