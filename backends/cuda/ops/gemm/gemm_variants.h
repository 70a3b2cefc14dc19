// The variants of gemm on CUDA.
#pragma once

#include <tessera/ops/gemm.h>

#include "backend/variant.h"

namespace tessera::cuda {

/// The kernels take every size, stride and orientation, and multiply and add in the operands' own type, which is what
/// every accuracy allows; so only the type can be refused.
[[nodiscard]] backend::Verdict check_gemm_type(const Gemm& problem, const backend::Device& device);

[[nodiscard]] backend::Variant<Gemm> gemm_register();
[[nodiscard]] backend::Variant<Gemm> gemm_vendor_cublas();

/// Best first.
[[nodiscard]] backend::VariantList<Gemm> gemm_variants();

}  // namespace tessera::cuda
