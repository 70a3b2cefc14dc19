// The inner part of "marching" and "separable": a few output rows of a strip at once, in the best instruction set that
// the processor has. The march from the outside in:
//
//     conv2d_marching.cpp, conv2d_separable.cpp   the variants: in which numbers an image is computed
//     conv2d_marching_strip.h                     down a strip, a few output rows at a time
//     conv2d_marching_kernel.h                    these rows: march(), for each kind of number
//       conv2d_marching_float.cpp                   float pixels
//       conv2d_marching_uint32.cpp                  integers of any size, modulo 2^32
//       conv2d_marching_int16_pairs.cpp             integers as two halves of 16 bits, two products in one instruction
//       conv2d_marching_int32_as_float.cpp          integers that are small enough to be exact in float
//     conv2d_marching_rows.h                      the rows' tiles from left to right, by code for the filter's size
//     conv2d_marching_tile.h                      one tile, whose sums stay in registers
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// The most that marching_rows() returns.
inline constexpr std::int64_t kMarchingRows = 8;
/// Rows of sources and targets are readable and, for sums, writable this far behind their last column.
inline constexpr std::int64_t kMarchingOverhang = 64;

/// Two neighbouring numbers of 16 bits each, the left one in the low half. Some processors multiply both at once.
enum class Int16Pair : std::uint32_t {};
/// An int32 of so small a magnitude that it is converted to float and computed with exactly.
enum class Int32AsFloat : std::int32_t {};

/// What a source is multiplied with.
template <class Source>
struct MarchingWeightOf {
  using type = Source;
};
template <>
struct MarchingWeightOf<Int32AsFloat> {
  using type = float;
};
template <class Source>
using MarchingWeight = typename MarchingWeightOf<Source>::type;

/// A few rows of a strip. Output row r takes source rows r to r + filter_height - 1, and column x takes columns x to
/// x + filter_width - 1 of them.
template <class Source, class Output>
struct MarchingRows {
  const Source* const* sources = nullptr;  ///< rows + filter_height - 1 rows; columns + filter_width - 1 of each count
  Output* const* targets = nullptr;        ///< `rows` rows
  /// filter_height rows: filter_width, or for pairs (filter_width + 1) / 2
  const MarchingWeight<Source>* weights = nullptr;
  /// For pairs alone: the pixels' upper halves, or null where 16 bits hold them.
  const Source* const* upper_sources = nullptr;
  std::int32_t largest = 0;  ///< for Int32AsFloat alone: the magnitude that no pixel may pass
  std::int64_t filter_height = 0;
  std::int64_t filter_width = 0;
  std::int64_t rows = 0;     ///< any
  std::int64_t columns = 0;  ///< no more are written
  /// Write around the caches where the target's address allows it: for outputs that are larger than the caches.
  bool streams = false;
  /// Rows that will be read next, from the column that lies under the first target, or null. They are prefetched while
  /// these rows are computed.
  const unsigned char* const* upcoming = nullptr;
  std::int64_t upcoming_rows = 0;
  std::int64_t pixel_bytes = 0;
  /// Rows that will be written next, likewise; none where they are written around the caches.
  Output* const* upcoming_targets = nullptr;
  std::int64_t upcoming_target_rows = 0;
};

/// Rows that this processor's instruction set computes together: march() is best called with a multiple.
[[nodiscard]] std::int64_t marching_rows();

/// Sums of uint32 wrap around. Float sums may become int32: exact where mathematics::is_exact_in_float32() says so.
void march(const MarchingRows<std::uint32_t, std::uint32_t>& rows);
void march(const MarchingRows<float, float>& rows);
void march(const MarchingRows<float, std::int32_t>& rows);
/// False if a pixel under the rows, or up to 2 vectors behind them, is larger than `largest`: then what was written is
/// of no use.
[[nodiscard]] bool march(const MarchingRows<Int32AsFloat, float>& rows);
[[nodiscard]] bool march(const MarchingRows<Int32AsFloat, std::int32_t>& rows);
/// int32 products modulo 2^32 of weights of 16 bits, two at a time.
void march(const MarchingRows<Int16Pair, std::int32_t>& rows);

/// Does this processor multiply pairs faster than int32?
[[nodiscard]] bool has_fast_pairs();
/// Pixels as pairs: pixel x = lower + 65536 * upper, lower from -32768 to 32767. Is any upper not 0? Reads up to
/// kMarchingOverhang pixels behind the last; `upper` may be null.
bool make_pairs(const std::uint32_t* pixels, std::int64_t count, Int16Pair* lower, Int16Pair* upper);

}  // namespace tessera::cpu_tbb
