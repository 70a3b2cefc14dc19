// The register tile, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen when it runs:
//
//                         b[p]   | vector 0 | vector 1 |     One call multiplies a panel of A with all slivers of B;
//    A panel, 1 KiB a row        +----------+----------+     one tile is kRows x 2 vectors of sums that stay in
//    +------- p -------+ row 0   | sum 0,0  | sum 0,1  |     registers while p runs over the depth. Per p: 2 loads of
//    | broadcast a[0][p] |  1    | sum 1,0  | sum 1,1  |     B and a broadcast of A for each row and 2 multiply-adds.
//    | broadcast a[1][p] |  ..   |   ...    |   ...    |
//    +-----------------+ kRows-1 |          |          |     AVX-512: 14 rows = 28 sums + 2 of B + 1 of A of 32
//                                                            registers. AVX2: 6 rows = 12 + 2 + 1 of 16. SSE has no
//    fused multiply-add and needs a register more: 4 rows.
//
// The panel of A lies in the first-level cache for the whole call. A sliver of B comes from the second: 128 bytes for
// 28 multiply-adds of 512 bits, which a Zen 4 core runs at one a cycle and a Sapphire Rapids core at two.
//
// The first panel of a block reads B where it is and leaves a packed copy for the other panels. The copy is nearly
// free: it adds two stores to every 14 cycles, in which a core could make 14, and B's way from memory is hidden behind
// the products.
//
// There is a tile for each number of rows up to kRows, so that the last panel of C computes no rows that do not exist.
// At the right edge the tile is one vector wide where that suffices. AVX-512 reads and writes the columns that exist
// and no others, and computes half a vector where that is enough. Without it the tile is written to a buffer first, and
// from there to the columns of C that exist.
#include "ops/gemm/gemm_register_kernel.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_register_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/gemm/gemm_register_sums.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_kernel {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kMostRows = 14;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kMostRows = 6;
#else
constexpr int kMostRows = 4;
#endif
static_assert(kMostRows <= kRegisterMostRows);

/// How many rows ahead B is prefetched. Packed slivers need no prefetching, but rows of B that are read in place lie
/// too far apart for the processor to predict: 14 x 2048 x 2048 floats ran at 57 GFLOP/s without and 91 with it on one
/// Zen 4 core.
constexpr std::int64_t kRowsAhead = 32;
/// The next panel's source is prefetched in steps, one for so many rows of k. All of it at the beginning of a tile is
/// more than a core can have under way: 2048 x 32 x 2048 floats ran at 101 GFLOP/s so, and at 125 in steps, on one core
/// of a Xeon.
constexpr std::int64_t kDepthAtOnce = 16;
/// Towards the end of a tile one row of C is prefetched for so many rows of k. If C were prefetched when the tile
/// begins, A and B would push it out of the cache again, which cost 1.5 % at 256 x 256 x 256 floats on that core.
constexpr std::int64_t kDepthPerRowOfC = 2;

/// How the rows of B are found.
enum class RowsOfB {
  evenly,             ///< b_step apart
  evenly_and_packed,  ///< the same, and the sliver is copied to `packed`
  by_offsets,         ///< each at an offset of its own
};

/// One tile, kRows x kWidth vectors, of which `columns` columns are stored. Of B more are read only if the last vector
/// is said to be whole.
template <class T, int kRows, int kWidth, RowsOfB kRowsOfB, LastVector kLast>
HWY_INLINE void multiply_tile(const PanelProduct<T>& product, const T* HWY_RESTRICT b, T* HWY_RESTRICT c,
                              std::int64_t columns, T* HWY_RESTRICT packed, Prefetch& next) {
  const Vector<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const typename LastTag<T, kLast>::Type d_last;
  Sums<T, kRows, kWidth, kLast> sums;
  sums.clear();
  const T* HWY_RESTRICT a = product.a;
  const std::int64_t b_step = product.b_step;
  const std::int64_t* HWY_RESTRICT offset = product.b_offsets;
  const auto shown = hn::FirstN(d_last, static_cast<std::size_t>(columns - (kWidth - 1) * lanes));
  const auto add_next = [&]() HWY_ATTR __attribute__((always_inline)) {
    const T* HWY_RESTRICT row = b;
    if constexpr (kRowsOfB == RowsOfB::by_offsets) {
      row += *offset++;
    } else {
      hwy::Prefetch(b + kRowsAhead * b_step);
      if constexpr (kWidth == 2) hwy::Prefetch(b + kRowsAhead * b_step + lanes);
      b += b_step;
    }
    const auto b_first = kWidth == 2 ? hn::LoadU(d, row) : hn::Zero(d);
    const T* const last = row + (kWidth - 1) * lanes;
    const auto b_last = kLast == LastVector::whole ? hn::LoadU(d_last, last) : hn::MaskedLoad(shown, d_last, last);
    if constexpr (kRowsOfB == RowsOfB::evenly_and_packed) {
      hn::StoreU(b_first, d, packed);
      hn::StoreU(b_last, d, packed + lanes);
      packed += kWidth * lanes;
    }
    sums.add(a, b_first, b_last);
    ++a;
  };
  const std::int64_t last = product.depth < kDepthPerRowOfC * kRows ? 0 : kDepthPerRowOfC * kRows;
  std::int64_t before_last = product.depth - last;
  for (; before_last >= kDepthAtOnce; before_last -= kDepthAtOnce) {
    next.advance();
    for (std::int64_t p = 0; p < kDepthAtOnce; ++p) add_next();
  }
  for (; before_last > 0; --before_last) add_next();
  const T* row = c;
  for (std::int64_t p = last; p > 0; p -= kDepthPerRowOfC, row += product.ldc) {
    hwy::Prefetch(row);
    hwy::Prefetch(row + columns - 1);
    for (std::int64_t i = 0; i < kDepthPerRowOfC; ++i) add_next();
  }
  if (kLast != LastVector::whole || columns == kWidth * lanes) {
    if (product.beta == T(0)) {
      sums.write(c, product.ldc, Writer<T, Former::unread, kLast>(product.alpha, product.beta, shown));
    } else if (product.beta == T(1)) {
      sums.write(c, product.ldc, Writer<T, Former::added, kLast>(product.alpha, product.beta, shown));
    } else {
      sums.write(c, product.ldc, Writer<T, Former::scaled, kLast>(product.alpha, product.beta, shown));
    }
    return;
  }
  HWY_ALIGN T edge[kMostRows * 2 * hn::MaxLanes(Vector<T>())];
  sums.write(edge, kWidth * lanes, Writer<T, Former::unread, kLast>(product.alpha, product.beta, shown));
  for (int row_number = 0; row_number < kRows; ++row_number) {
    for (std::int64_t j = 0; j < columns; ++j) {
      T& target = c[row_number * product.ldc + j];
      const T value = edge[row_number * kWidth * lanes + j];
      target = product.beta == T(0) ? value : value + product.beta * target;
    }
  }
}

/// All slivers of B, for a panel of kRows rows.
template <class T, int kRows, RowsOfB kRowsOfB>
HWY_NOINLINE void multiply_rows(const PanelProduct<T>& product) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Vector<T>()));
  const T* b = product.b;
  T* packed = product.packed;
  const std::int64_t tiles = (product.columns + 2 * lanes - 1) / (2 * lanes);
  const std::int64_t steps = tiles * (product.depth / kDepthAtOnce);
  Prefetch next = product.next;
  next.spread(steps);
  for (std::int64_t column = 0; column < product.columns; column += 2 * lanes, b += product.sliver_step) {
    const std::int64_t left = std::min(product.columns - column, 2 * lanes);
    T* const c = product.c + column;
    constexpr LastVector kEnd = kMasks ? LastVector::in_part : LastVector::whole;
    constexpr LastVector kShortEnd = kMasks && kRowsOfB == RowsOfB::evenly ? LastVector::half : kEnd;
    if constexpr (kRowsOfB == RowsOfB::evenly_and_packed) {
      multiply_tile<T, kRows, 2, kRowsOfB, LastVector::whole>(product, b, c, left, packed, next);
      packed += 2 * lanes * product.depth;
    } else if (left == 2 * lanes) {
      multiply_tile<T, kRows, 2, kRowsOfB, LastVector::whole>(product, b, c, left, nullptr, next);
    } else if (2 * left > 3 * lanes) {
      multiply_tile<T, kRows, 2, kRowsOfB, kEnd>(product, b, c, left, nullptr, next);
    } else if (left > lanes) {
      multiply_tile<T, kRows, 2, kRowsOfB, kShortEnd>(product, b, c, left, nullptr, next);
    } else if (2 * left > lanes) {
      multiply_tile<T, kRows, 1, kRowsOfB, kEnd>(product, b, c, left, nullptr, next);
    } else {
      multiply_tile<T, kRows, 1, kRowsOfB, kShortEnd>(product, b, c, left, nullptr, next);
    }
  }
}

template <class T, int... kRowsLessOne>
void multiply_any(const PanelProduct<T>& product, std::integer_sequence<int, kRowsLessOne...>) {
  using Function = void (*)(const PanelProduct<T>&);
  static constexpr Function kMultiply[] = {multiply_rows<T, kRowsLessOne + 1, RowsOfB::evenly>...};
  static constexpr Function kMultiplyAndPack[] = {multiply_rows<T, kRowsLessOne + 1, RowsOfB::evenly_and_packed>...};
  static constexpr Function kMultiplyByOffsets[] = {multiply_rows<T, kRowsLessOne + 1, RowsOfB::by_offsets>...};
  const Function* const functions = product.b_offsets != nullptr ? kMultiplyByOffsets
                                    : product.packed != nullptr  ? kMultiplyAndPack
                                                                 : kMultiply;
  functions[product.rows - 1](product);
}

void multiply_float32(const PanelProduct<float>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}
void multiply_float64(const PanelProduct<double>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}

RegisterTile tile_float32() {
  return {kMostRows, 2 * static_cast<std::int64_t>(hn::Lanes(Vector<float>())), kMasks};
}
RegisterTile tile_float64() {
  return {kMostRows, 2 * static_cast<std::int64_t>(hn::Lanes(Vector<double>())), kMasks};
}

}  // namespace gemm_register_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(multiply_float32);
HWY_EXPORT(multiply_float64);
HWY_EXPORT(tile_float32);
HWY_EXPORT(tile_float64);

template <>
void multiply_panel(const PanelProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float32)(product);
}
template <>
void multiply_panel(const PanelProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float64)(product);
}
template <>
RegisterTile register_tile<float>() {
  return HWY_DYNAMIC_DISPATCH(tile_float32)();
}
template <>
RegisterTile register_tile<double>() {
  return HWY_DYNAMIC_DISPATCH(tile_float64)();
}

}  // namespace tessera::cpu_tbb
#endif
