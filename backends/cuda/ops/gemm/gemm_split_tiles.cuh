// Which tile of C a block of gemm's variants by fp16 computes, or a cluster of blocks.
#pragma once

#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

/// A tile of C, counted in tiles, and the product of the batch.
struct SplitTile {
  std::int64_t matrix;
  std::int64_t row;
  std::int64_t column;
};

/// Tile `number`, counted in what a cluster computes. Those with neighbouring numbers are computed at the same time and
/// share what they read through the L2 cache, so they walk along m within a band before they step along n.
__device__ __forceinline__ SplitTile split_tile(const GemmSplitArguments& gemm, std::int64_t number) {
  const int each = gemm.tiles_m * gemm.tiles_n;
  const std::int64_t matrix = number / each;
  const auto of_matrix = static_cast<int>(number - matrix * each);
  const int of_band = gemm.band * gemm.tiles_n;
  const int band = of_matrix / of_band;
  const int inside = of_matrix - band * of_band;
  const int first = band * gemm.band;
  const int height = min(gemm.band, gemm.tiles_m - first);
  return {matrix, std::int64_t{first + inside % height}, std::int64_t{inside / height}};
}

}  // namespace tessera::cuda
