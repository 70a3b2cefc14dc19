// The inner part of the variant "split": operands as bfloat16 in three parts, products of them by AMX, and which sums
// are in doubt. Only for processors with AMX-BF16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_tbb_tile_shapes.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::cpu_tbb {

/// Rows and columns of a tile of C, and steps of k in one packed step.
inline constexpr std::int64_t kSplitTile = 32;
inline constexpr std::int64_t kSplitStep = 32;
/// A packed step of a tile's rows or columns: three parts of two tile registers.
inline constexpr int kSplitParts = 3;
inline constexpr std::int64_t kSplitPartBytes = 2 * kTileBytes;
inline constexpr std::int64_t kSplitStepBytes = kSplitParts * kSplitPartBytes;

/// Of each row or column of a tile, over all that was packed: the largest magnitude, and the smallest that is not 0,
/// as bits; of the latter less 1, so that 0 counts as the largest of all.
struct alignas(64) SplitExtents {
  std::uint32_t largest[kSplitTile];
  std::uint32_t smallest_less_1[kSplitTile];
  void clear() noexcept;
};

/// `rows` <= kSplitTile rows of `depth` elements into a panel of ceil(depth / kSplitStep) steps, filled up with zeros.
void pack_split_rows(const float* source, std::int64_t row_step, std::int64_t rows, std::int64_t depth,
                     std::byte* panel, SplitExtents& extents);
/// `depth` rows of `columns` elements into slivers of kSplitTile columns one after the other, filled up with zeros.
void pack_split_slivers(const float* source, std::int64_t row_step, std::int64_t depth, std::int64_t columns,
                        std::byte* slivers, SplitExtents* extents);

/// One panel times slivers beside each other. Sums are tile after tile, each kSplitTile rows of kSplitTile.
struct SplitProduct {
  const std::byte* panel = nullptr;
  const std::byte* slivers = nullptr;
  std::int64_t sliver_count = 0;
  std::int64_t steps = 0;  ///< of kSplitStep
  float* sums = nullptr;
  bool is_first = false;  ///< sums begin here, at 0
  Prefetch next;          ///< what the next panel is packed from
};
void multiply_split(const SplitProduct& product);

/// A tile's sums, of which so many rows and columns are of C.
struct SplitSums {
  const float* sums = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
/// Which of them may be off by more than the bound allows (docs/decisions/0028): bit j of doubts[i]. False if none.
[[nodiscard]] bool find_split_doubts(const SplitSums& tile, const SplitExtents& rows, const SplitExtents& columns,
                                     std::uint32_t* doubts);

}  // namespace tessera::cpu_tbb
