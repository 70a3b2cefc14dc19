// Which variant suits a problem where the device is a processor: Backend::Variant::pays, by what was measured.
#pragma once

#include "backend/variant.h"
#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// Of `register_dots`: where neither `register_panels` nor, on so few products, `naive` is expected to be sooner.
[[nodiscard]] backend::Verdict register_dots_pays(const Gemm& problem, const backend::Device& device);

/// Of `register_panels`: where the products are worth its second launch.
[[nodiscard]] backend::Verdict register_panels_pays(const Gemm& problem, const backend::Device& device);

/// Of variants whose groups share tiles in local memory: not on processors, where that is memory as any other.
[[nodiscard]] backend::Verdict square_tiles_pay(const Gemm& problem, const backend::Device& device);

}  // namespace tessera::opencl
