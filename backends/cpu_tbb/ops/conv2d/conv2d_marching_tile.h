// One tile of output rows, whose sums stay in registers. Included once for every instruction set (Highway), by the
// files that compile it for a type:
//
//     sources            targets                 One tile is kRows rows x 2 vectors of sums that stay in registers
//     row 0   x x x      row 0   s s             while the source rows pass by from top to bottom. At each source row
//     row 1   x x x      row 1   s s             and each column of the filter, two vectors are loaded once, at any
//     row 2   x x x   >  row 2   s s             alignment, and added to the sums of every output row that they belong
//     ...                ...                     to: row r takes the weight (source row - r). Which rows those are is
//     row 9   x x x      row 7   s s             known when it is compiled, so nothing is asked inside.
//
// Per source row and column of the filter: 2 vectors, and for each of the up to 8 sums a broadcast weight and 2
// multiply-adds; a pixel is read (kRows + height - 1) / kRows * width times instead of height * width times. 8 rows x 2
// vectors are 16 sums: as many as hide the latency of two multiply-add units of 4 cycles, twice, and 32 registers hold
// them with room for weights. With 16 registers it is 5 rows, without multiply-add 4.
#include "ops/conv2d/conv2d_marching_kernel.h"

#include <cstdint>
#include <type_traits>

#if defined(TESSERA_CONV2D_MARCHING_TILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_CONV2D_MARCHING_TILE_H
#undef TESSERA_CONV2D_MARCHING_TILE_H
#else
#define TESSERA_CONV2D_MARCHING_TILE_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_tile {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kRows = 8;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kRows = 5;
#else
constexpr int kRows = 4;
#endif
static_assert(kRows <= kMarchingRows);

/// How vectors hold a source's elements: the type in memory, the type of a lane in sums, and how many columns of the
/// filter one element serves.
template <class Source>
struct Elements {
  using Stored = Source;
  using Lane = Source;
  static constexpr int kColumns = 1;
};
template <>
struct Elements<Int16Pair> {
  using Stored = std::int32_t;
  using Lane = std::int32_t;
  static constexpr int kColumns = 2;
};
template <>
struct Elements<Int32AsFloat> {
  using Stored = std::int32_t;
  using Lane = float;
  static constexpr int kColumns = 1;
};
/// kMarchingOverhang is 4 vectors.
constexpr std::size_t kMostLanes = kMarchingOverhang / 4;
template <class Source>
using Tag = hn::CappedTag<typename Elements<Source>::Lane, kMostLanes>;
template <class Source>
using Vector = hn::VFromD<Tag<Source>>;

/// sum + weight * pixel; integers wrap around.
template <class Source, class V>
HWY_INLINE V multiply_add(V weight, V pixel, V sum) {
  if constexpr (std::is_same_v<typename Elements<Source>::Lane, float>) {
    return hn::MulAdd(weight, pixel, sum);
  } else if constexpr (std::is_same_v<Source, Int16Pair>) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // Not through its intrinsic: for this instruction set Highway does not name avx512vnni to the compiler.
    asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(weight.raw), "v"(pixel.raw));
#endif
    return sum;
  } else {
    return hn::Add(hn::Mul(weight, pixel), sum);
  }
}

/// The sum, done here: clang would add up where the sums are stored, and keep all factors on the stack until then.
template <class V>
HWY_INLINE V done(V sum) {
#if defined(__clang__) && HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  asm volatile("" : "+v"(sum.raw));
#endif
  return sum;
}

template <class Source>
HWY_INLINE Vector<Source> broadcast(const MarchingWeight<Source>* weight) {
  return hn::Set(Tag<Source>(), static_cast<typename Elements<Source>::Lane>(*weight));
}
template <class Source>
HWY_INLINE Vector<Source> load(const Source* source) {
  using Stored = typename Elements<Source>::Stored;
  using Lane = typename Elements<Source>::Lane;
  const hn::CappedTag<Stored, kMostLanes> d;
  const auto loaded = hn::LoadU(d, reinterpret_cast<const Stored*>(source));
  if constexpr (std::is_same_v<Stored, Lane>) {
    return loaded;
  } else {
    return hn::ConvertTo(Tag<Source>(), loaded);
  }
}

/// The sums of kCount rows, as a chain so that each is a variable of its own and stays in a register.
template <class Source, int kCount>
struct RowSums {
  using V = Vector<Source>;

  HWY_INLINE void clear() {
    left = hn::Zero(Tag<Source>());
    right = hn::Zero(Tag<Source>());
    if constexpr (kCount > 1) rest.clear();
  }
  /// Adds the two vectors to rows kFirst to kLast - 1. `weight` is the first row's; each next row takes the one above.
  template <int kFirst, int kLast>
  HWY_INLINE void add(const MarchingWeight<Source>* weight, std::int64_t width, V x0, V x1) {
    if constexpr (kFirst <= 0 && kLast > 0) {
      const V factor = broadcast<Source>(weight);
      left = done(multiply_add<Source>(factor, x0, left));
      right = done(multiply_add<Source>(factor, x1, right));
    }
    if constexpr (kCount > 1 && kLast > 1) {
      rest.template add<kFirst - 1, kLast - 1>(weight - width, width, x0, x1);
    }
  }
  /// Times 65536.
  HWY_INLINE void shift() {
    left = hn::ShiftLeft<16>(left);
    right = hn::ShiftLeft<16>(right);
    if constexpr (kCount > 1) rest.shift();
  }
  template <class Store>
  HWY_INLINE void store(int row, int rows, const Store& store_row) const {
    if (row >= rows) return;
    store_row(row, left, right);
    if constexpr (kCount > 1) rest.store(row + 1, rows, store_row);
  }

  V left;
  V right;
  RowSums<Source, kCount - 1> rest;
};
template <class Source>
struct RowSums<Source, 0> {};

inline constexpr bool kShifts = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
/// Where kShifts: lanes kShift and on of `left`, then the first kShift of `right`.
template <int kShift, class V>
HWY_INLINE V shifted(V left, [[maybe_unused]] V right) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const hn::ScalableTag<std::int32_t> d;
  auto lanes = hn::BitCast(d, left);
  // Not through its intrinsic, of which clang makes a permutation by a table that takes a register.
  asm("valignd %3, %1, %2, %0" : "=v"(lanes.raw) : "v"(lanes.raw), "v"(hn::BitCast(d, right).raw), "i"(kShift));
  left = hn::BitCast(hn::DFromV<V>(), lanes);
#endif
  return left;
}

/// Adds columns kColumn to kWidth - 1 of one source row. Where the instruction set can shift two vectors together, each
/// column's vectors are made from the three that are loaded: a load for each column would mostly cross a cache line,
/// and costs more than a shift.
template <int kFirst, int kLast, int kColumn, int kWidth, class Source, int kCount>
HWY_INLINE void add_columns(const Source* HWY_RESTRICT source, const MarchingWeight<Source>* weight, Vector<Source> x0,
                            Vector<Source> x1, Vector<Source> x2, RowSums<Source, kCount>& sums) {
  if constexpr (kColumn < kWidth) {
    constexpr int kOffset = Elements<Source>::kColumns * kColumn;
    if constexpr (kColumn == 0) {
      sums.template add<kFirst, kLast>(weight, kWidth, x0, x1);
    } else if constexpr (kShifts) {
      sums.template add<kFirst, kLast>(weight + kColumn, kWidth, shifted<kOffset>(x0, x1), shifted<kOffset>(x1, x2));
    } else {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<Source>()));
      sums.template add<kFirst, kLast>(weight + kColumn, kWidth, load(source + kOffset),
                                       load(source + kOffset + lanes));
    }
    add_columns<kFirst, kLast, kColumn + 1, kWidth>(source, weight, x0, x1, x2, sums);
  }
}

/// Adds one source row to the output rows kFirst to kLast - 1, which it belongs to. kWidth is the number of weights in
/// a row of the filter, or 0 where that is known at run time only. The empty asm hides from GCC that all source rows
/// use the same weights: it would load them all first, and keep them on the stack.
template <int kFirst, int kLast, int kWidth, class Source, int kCount>
HWY_INLINE void add_source(const Source* HWY_RESTRICT source, std::int64_t source_row,
                           const MarchingWeight<Source>* weights, std::int64_t width, RowSums<Source, kCount>& sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<Source>()));
  const MarchingWeight<Source>* weight =
      weights + source_row * width;  // of output row 0; where it has none, nothing is read
  if constexpr (kWidth != 0) {
    asm("" : "+r"(weight));
    const auto x0 = load(source);
    const auto x1 = load(source + lanes);
    add_columns<kFirst, kLast, 0, kWidth>(source, weight, x0, x1, kShifts ? load(source + 2 * lanes) : x1, sums);
  } else {
    constexpr int kStep = Elements<Source>::kColumns;
    for (std::int64_t j = 0; j < width; ++j) {
      sums.template add<kFirst, kLast>(weight + j, width, load(source + kStep * j), load(source + kStep * j + lanes));
    }
  }
}

/// Rows that the tile below this one will read or write, from the byte on that lies below this tile's first.
struct UpcomingRows {
  const unsigned char* const* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t first_byte = 0;
  std::int64_t bytes = 0;

  template <int kWrites>
  HWY_INLINE void fetch(std::int64_t row) const {
    constexpr std::int64_t kLine = 64;
    if (row >= count) return;
    // Into the second level: the first is full of this tile's rows.
    for (std::int64_t byte = 0; byte < bytes; byte += kLine) {
      __builtin_prefetch(rows[row] + first_byte + byte, kWrites, 2);
    }
  }
};
/// Both, prefetched a row at a time. All at once would fill the core's queue of cache misses and keep this tile's
/// stores waiting.
struct Upcoming {
  UpcomingRows sources;
  UpcomingRows targets;

  HWY_INLINE void fetch(std::int64_t row) const {
    sources.fetch<0>(row);
    targets.fetch<1>(row);
  }
};

/// The first source rows, which the last output rows do not take yet: row r belongs to the output rows 0 to r.
template <int kRow, int kEnd, int kHeight, int kWidth, class Source, int kCount>
HWY_INLINE void add_sources(const Source* const* sources, std::int64_t offset, const MarchingWeight<Source>* weights,
                            std::int64_t width, RowSums<Source, kCount>& sums, const Upcoming& upcoming) {
  if constexpr (kRow < kEnd) {
    upcoming.fetch(kRow);
    constexpr int kFirst = kRow - kHeight + 1 > 0 ? kRow - kHeight + 1 : 0;
    constexpr int kLast = kRow + 1 < kCount ? kRow + 1 : kCount;
    add_source<kFirst, kLast, kWidth>(sources[kRow] + offset, kRow, weights, width, sums);
    add_sources<kRow + 1, kEnd, kHeight, kWidth>(sources, offset, weights, width, sums, upcoming);
  }
}
/// The last source rows, which the first output rows do not take any more: kRow counts from the last full one.
template <int kRow, class Source, int kCount>
HWY_INLINE void add_last_sources(const Source* const* sources, std::int64_t offset,
                                 const MarchingWeight<Source>* weights, std::int64_t height, std::int64_t width,
                                 RowSums<Source, kCount>& sums) {
  if constexpr (kRow < kCount) {
    const std::int64_t row = height - 1 + kRow;
    add_source<kRow, kCount, 0>(sources[row] + offset, row, weights, width, sums);
    add_last_sources<kRow + 1>(sources, offset, weights, height, width, sums);
  }
}

/// Adds the products of one tile. kHeight is the filter's, or 0 for kRows and more.
template <int kHeight, int kWidth, class Source>
HWY_INLINE void add_tile(const Source* const* sources, std::int64_t offset, const MarchingWeight<Source>* weights,
                         std::int64_t height, std::int64_t width, RowSums<Source, kRows>& sums,
                         const Upcoming& upcoming) {
  if constexpr (kHeight != 0) {
    add_sources<0, kHeight + kRows - 1, kHeight, kWidth>(sources, offset, weights, width, sums, upcoming);
  } else {
    add_sources<0, kRows - 1, kRows, 0>(sources, offset, weights, width, sums, upcoming);
    for (std::int64_t row = kRows - 1; row < height; ++row) {
      add_source<0, kRows, 0>(sources[row] + offset, row, weights, width, sums);
    }
    upcoming.fetch(kRows - 1);
    add_last_sources<1>(sources, offset, weights, height, width, sums);
  }
}

}  // namespace conv2d_marching_tile
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
