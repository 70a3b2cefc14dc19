// Which compiled shape of gemm's thin variant computes a problem, and what that takes.
#pragma once

#include <tessera/kernel.h>
#include <tessera/ops/gemm.h>

#include <cstdint>
#include <vector>

#include "backend/variant.h"
#include "cuda_context.h"
#include "mathematics/gemm_thin_way.h"
#include "ops/gemm/gemm_thin_arguments.h"

namespace tessera::cuda {

using mathematics::gemm_thin_way;
using mathematics::GemmThinWay;

/// The shape with so many lanes.
[[nodiscard]] GemmThinShape gemm_thin_shape(const Gemm& problem, std::int64_t lanes);

/// The tunables lanes and split_k, and what is expected to be fastest.
[[nodiscard]] std::vector<Tunable> gemm_thin_tunables(const Gemm& problem, const DeviceLimits& card);

/// How long it takes with that, by the model.
[[nodiscard]] double gemm_thin_microseconds(const Gemm& problem, const DeviceLimits& card);

/// No where it is not taken whatever the model says.
[[nodiscard]] backend::Verdict gemm_thin_may_pay(const Gemm& problem);

}  // namespace tessera::cuda
