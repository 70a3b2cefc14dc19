// Which compiled shape of gemm's shallow variant computes a problem, how it cuts C, and what that takes.
#pragma once

#include <tessera/ops/gemm.h>

#include <cstdint>

#include "cuda_context.h"
#include "ops/gemm/gemm_shallow_arguments.h"

namespace tessera::cuda {

/// Do tiles begin where a sector does? Not where all rows do by themselves, and not where that takes more tiles than it
/// saves time.
[[nodiscard]] bool gemm_shallow_shifts(const Gemm& problem, const GemmShallowShape& shape);

/// Tiles of a product's C, and of a row of them.
[[nodiscard]] std::int64_t gemm_shallow_tiles(const Gemm& problem, const GemmShallowShape& shape);
[[nodiscard]] std::int64_t gemm_shallow_tiles_n(const Gemm& problem, const GemmShallowShape& shape);

/// The shape that is expected to be fastest.
[[nodiscard]] const GemmShallowShape& choose_gemm_shallow(const Gemm& problem, const DeviceLimits& card);

/// How long it takes with that, by the model.
[[nodiscard]] double gemm_shallow_microseconds(const Gemm& problem, const DeviceLimits& card);

}  // namespace tessera::cuda
