// gemm on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/gemm.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<Gemm> gemm_variants();

[[nodiscard]] backend::Variant<Gemm> gemm_thin();
[[nodiscard]] backend::Variant<Gemm> gemm_shallow();
[[nodiscard]] backend::Variant<Gemm> gemm_split();
[[nodiscard]] backend::Variant<Gemm> gemm_register_dots();
[[nodiscard]] backend::Variant<Gemm> gemm_register_panels();
[[nodiscard]] backend::Variant<Gemm> gemm_register_local();
[[nodiscard]] backend::Variant<Gemm> gemm_tiled();
[[nodiscard]] backend::Variant<Gemm> gemm_coalesced_a();
[[nodiscard]] backend::Variant<Gemm> gemm_naive();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_clblast();

}  // namespace tessera::opencl
