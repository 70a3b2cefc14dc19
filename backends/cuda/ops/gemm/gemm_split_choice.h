// Which of gemm's compiled shapes multiplies prepared operands, what that takes, and whether it is faster than float32
// products: for the variants split and scaled_half.
#pragma once

#include <tessera/kernel.h>
#include <tessera/ops/gemm.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/variant.h"
#include "cuda_context.h"
#include "mathematics/gemm_split_bound.h"
#include "ops/gemm/gemm_split_tiling.h"

namespace tessera::cuda {

/// Blocks that share a row of so many steps of k where there are so many rows.
[[nodiscard]] std::int64_t prepare_parts(std::int64_t rows, std::int64_t k, const DeviceLimits& card);

/// Clusters that the card has room for at once. Those of more than two blocks do not find it in all of its corners, and
/// on an H100 30 of four blocks do; one that waits for the others would double the time.
[[nodiscard]] inline std::int64_t gemm_split_clusters(const GemmSplitTiling& tiling, const DeviceLimits& card) {
  const std::int64_t clusters = std::int64_t{card.multiprocessors} / tiling.cluster();
  return std::max<std::int64_t>(1, tiling.cluster() > 2 ? clusters * 15 / 16 : clusters);
}

/// The shape that is expected to be fastest.
[[nodiscard]] const GemmSplitShape& choose_gemm_split(const Gemm& problem, GemmSplitKind kind,
                                                      const DeviceLimits& card);
/// The one with this tile; there is one.
[[nodiscard]] const GemmSplitShape& gemm_split_shape(std::int64_t tile_m, std::int64_t tile_n);
/// The tunables tile_m and tile_n, which exist in the pairs that are compiled.
[[nodiscard]] std::vector<Tunable> gemm_split_tunables(const GemmSplitShape& preferred);

/// How long preparing and multiplying takes, by the model.
[[nodiscard]] double gemm_split_microseconds(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card);

/// No where it is not taken whatever the model says. The problem is one as it is computed.
[[nodiscard]] backend::Verdict gemm_split_may_pay(const Gemm& problem, const DeviceLimits& card);

/// The bound as a multiple of the strict algorithm's (docs/decisions/0025).
[[nodiscard]] inline double gemm_split_error_factor(const Gemm& problem, GemmSplitKind kind) {
  return mathematics::gemm_split_error_factor(problem, kind, panel_depth(kind));
}

}  // namespace tessera::cuda
