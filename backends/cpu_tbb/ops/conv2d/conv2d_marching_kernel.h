// The inner part of "marching" and "separable": a few output rows of a strip at once, in the best instruction set that
// the processor has.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// The most that marching_rows() returns.
inline constexpr std::int64_t kMarchingRows = 8;
/// Rows of sources and targets are readable and, for sums, writable this far behind their last column.
inline constexpr std::int64_t kMarchingOverhang = 128;

/// A few rows of a strip. Output row r takes source rows r to r + filter_height - 1, and column x takes columns x to
/// x + filter_width - 1 of them.
template <class Sum, class Output>
struct MarchingRows {
  const Sum* const* sources = nullptr;  ///< rows + filter_height - 1 rows; columns + filter_width - 1 of each count
  Output* const* targets = nullptr;     ///< `rows` rows
  const Sum* weights = nullptr;         ///< filter_height x filter_width
  std::int64_t filter_height = 0;
  std::int64_t filter_width = 0;
  std::int64_t rows = 0;     ///< any
  std::int64_t columns = 0;  ///< no more are written
  /// Write around the caches where the target's address allows it: for outputs that are larger than they are.
  bool streams = false;
};

/// Rows that this processor's instruction set computes together: march() is best called with a multiple.
[[nodiscard]] std::int64_t marching_rows();

/// Sums of uint32 wrap around. Float sums may become int32: exact where backend::is_exact_in_float32() says so.
void march(const MarchingRows<std::uint32_t, std::uint32_t>& rows);
void march(const MarchingRows<float, float>& rows);
void march(const MarchingRows<float, std::int32_t>& rows);

}  // namespace tessera::cpu_tbb
