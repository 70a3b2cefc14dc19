// Which of the compiled shapes of warps multiplies prepared operands, and whether it is faster than float32 products:
// for the variants split_mma and scaled_half_mma.
#pragma once

#include <tessera/kernel.h>
#include <tessera/ops/gemm.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/variant.h"
#include "cuda_context.h"
#include "ops/gemm/gemm_split_tiling.h"

namespace tessera::cuda {

/// How long so many tiles of so many steps of kSplitStep take with shape number `shape` of kSplitMmaShapes, by the
/// model: three products each.
[[nodiscard]] double split_mma_products_microseconds(double tiles, double steps, std::size_t shape,
                                                     const DeviceLimits& card);
/// How long preparing and multiplying takes with a shape of kSplitMmaShapes.
[[nodiscard]] double gemm_split_mma_microseconds(const Gemm& problem, GemmSplitKind kind, std::size_t shape,
                                                 const DeviceLimits& card);
/// The shape that is expected to be fastest.
[[nodiscard]] const SplitMmaShape& choose_gemm_split_mma(const Gemm& problem, GemmSplitKind kind,
                                                         const DeviceLimits& card);
/// The one with this tile; there is one.
[[nodiscard]] const SplitMmaShape& split_mma_shape(std::int64_t tile_m, std::int64_t tile_n);
/// The tunables tile_m and tile_n, which exist in the pairs that are compiled. The meanings are the operator's words.
[[nodiscard]] std::vector<Tunable> split_mma_tunables(const SplitMmaShape& preferred, const char* meaning_m,
                                                      const char* meaning_n);

/// With the shape that is expected to be fastest.
[[nodiscard]] double gemm_split_mma_microseconds(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card);

/// No where it is not taken whatever the model says: elsewhere than on compute capability 8.0. The problem is one as it
/// is computed.
[[nodiscard]] backend::Verdict gemm_split_mma_may_pay(const Gemm& problem, const DeviceLimits& card);

/// Steps of k whose products the tensor cores add up before the sum goes to a float32 register.
[[nodiscard]] constexpr std::int64_t split_mma_depth(GemmSplitKind kind) {
  return kind == GemmSplitKind::split ? kSplitStep : kSplitStep * kSplitPlanes;
}

}  // namespace tessera::cuda
