// The inner part of the variant "tiled": packed tiles in the first-level cache times packed tiles, in vectors.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// Rows that are computed together; packed tiles of A are filled up with zero rows to a multiple of it.
inline constexpr std::int64_t kRowGroup = 4;

/// One packed tile of A times a row of packed tiles of B, added to the sums.
template <class T>
struct TileProduct {
  const T* a = nullptr;  ///< element (row, p) at a[row * a_row_step + p * a_depth_step]
  std::int64_t a_row_step = 0;
  std::int64_t a_depth_step = 0;
  const T* b = nullptr;  ///< tile after tile of tile * tile elements, in each p after p of `tile` columns
  T* sums = nullptr;     ///< element (row, column) at sums[row * sums_row_step + column]
  std::int64_t sums_row_step = 0;
  std::int64_t rows = 0;     ///< a multiple of kRowGroup
  std::int64_t columns = 0;  ///< a multiple of tile
  std::int64_t depth = 0;    ///< at most tile
  std::int64_t tile = 0;     ///< 4, 8, 16 or 32
};

/// Runs with the best instruction set that the processor has. Every sum is taken over p in order.
void multiply_tiles(const TileProduct<float>& product);
void multiply_tiles(const TileProduct<double>& product);

}  // namespace tessera::cpu_tbb
