// What the host must know of the tiles by which prepared operands are multiplied, whoever multiplies them: warp groups
// (cuda_split_shape.h) or warps (cuda_split_mma_shape.h).
#pragma once

#include <tessera/ops/gemm.h>

#include <cstdint>

#include "cuda_split_mma_shape.h"
#include "mathematics/division.h"
#include "mathematics/gemm_split_bound.h"
#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

using mathematics::GemmSplitKind;

/// Steps of k of a panel.
[[nodiscard]] constexpr std::int64_t panel_depth(GemmSplitKind kind) {
  return kind == GemmSplitKind::split ? kSplitPlane : kSplitPlane * kSplitPlanes;
}

struct GemmSplitTiling {
  std::int64_t tile_m;  ///< of a block
  std::int64_t tile_n;
  std::int64_t cluster_m;  ///< blocks of a cluster
  std::int64_t cluster_n;
  std::int32_t block_rows_of_a;  ///< rows that a panel of A holds; one of B holds a tile's
  std::int32_t threads;
  std::int32_t shared_bytes;
  bool is_resident;  ///< as many blocks as the card holds take the tiles in turn, else each takes one

  [[nodiscard]] constexpr std::int64_t cluster() const noexcept { return cluster_m * cluster_n; }
  /// Rows of A and of B with those that fill up a cluster's last tile.
  [[nodiscard]] std::int64_t padded_rows_of_a(const Gemm& problem) const {
    return mathematics::round_up(problem.m, tile_m * cluster_m);
  }
  [[nodiscard]] std::int64_t padded_rows_of_b(const Gemm& problem) const {
    return mathematics::round_up(problem.n, tile_n * cluster_n);
  }
};

[[nodiscard]] constexpr GemmSplitTiling tiling_of(const GemmSplitShape& shape) {
  return {shape.tile_m(), shape.tile_n,  shape.cluster_m,      shape.cluster_n,
          kSplitRows,     kSplitThreads, shape.shared_bytes(), true};
}
[[nodiscard]] constexpr GemmSplitTiling tiling_of(const SplitMmaShape& shape) {
  return {shape.tile_m(), shape.tile_n(), 1, 1, shape.tile_m(), shape.threads(), shape.shared_bytes(), false};
}

}  // namespace tessera::cuda
