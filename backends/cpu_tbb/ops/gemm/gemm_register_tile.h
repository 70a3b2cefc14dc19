// The register tile (its picture is in gemm_register_kernel.cpp), and the walk over the slivers of B. Included once for
// every instruction set (Highway), by the files that make functions of it: A packed, or read where it lies.
#include "ops/gemm/gemm_register_kernel.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#if defined(TESSERA_GEMM_REGISTER_TILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_GEMM_REGISTER_TILE_H
#undef TESSERA_GEMM_REGISTER_TILE_H
#else
#define TESSERA_GEMM_REGISTER_TILE_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/gemm/gemm_register_sums.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_tile {

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
/// A tile with fewer products than that needs, but with so many, has all of its rows of C fetched at its beginning: 3
/// channels to 64, 3 x 3, 224 x 224, channels last, take 720 us so and 870 without on two threads of an EPYC, but
/// 3993 x 382 x 8 takes 1.2 times as long (without a file).
constexpr std::int64_t kShallow = 24;

/// How the rows of B are found.
enum class RowsOfB {
  evenly,             ///< b_step apart
  evenly_and_packed,  ///< the same, and the sliver is copied to `packed`
  by_offsets,         ///< each at an offset of its own
};

/// How the rows of A are found.
enum class RowsOfA {
  packed,     ///< kRegisterDepth apart, elements beside each other
  in_place,   ///< a_row_step apart, elements beside each other
  transposed  ///< where a transposed A lies: rows beside each other, elements a_depth_step apart
};

/// From one row of A to the next, and from one of its elements to the next: known when it is compiled, where it can be.
template <class T, RowsOfA kRowsOfA>
HWY_INLINE auto row_step_of(const PanelProduct<T>& product) {
  if constexpr (kRowsOfA == RowsOfA::packed) {
    return std::integral_constant<std::int64_t, kRegisterDepth<T>>();
  } else if constexpr (kRowsOfA == RowsOfA::in_place) {
    return product.a_row_step;
  } else {
    return std::integral_constant<std::int64_t, 1>();
  }
}
template <class T, RowsOfA kRowsOfA>
HWY_INLINE auto depth_step_of(const PanelProduct<T>& product) {
  if constexpr (kRowsOfA == RowsOfA::transposed) {
    return product.a_depth_step;
  } else {
    return std::integral_constant<std::int64_t, 1>();
  }
}

/// Bias and ReLU, on sums whose alpha is 1, for columns from `column` on.
template <class T, int kRows, int kWidth, LastVector kLast, class M>
HWY_INLINE void finish_sums(Sums<T, kRows, kWidth, kLast>& sums, const PanelProduct<T>& product, std::int64_t column,
                            std::int64_t columns, M shown) {
  const Vector<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const typename LastTag<T, kLast>::Type d_last;
  if (product.bias != nullptr) {
    const T* bias = product.bias + column;
    HWY_ALIGN T edge[2 * hn::MaxLanes(Vector<T>())];
    if (kLast == LastVector::whole && columns < kWidth * lanes) {
      std::fill_n(std::copy_n(bias, columns, edge), kWidth * lanes - columns, T(0));
      bias = edge;
    }
    const auto first = kWidth == 2 ? hn::LoadU(d, bias) : hn::Zero(d);
    const T* const behind = bias + (kWidth - 1) * lanes;
    const auto last = kLast == LastVector::whole ? hn::LoadU(d_last, behind) : hn::MaskedLoad(shown, d_last, behind);
    sums.finish([&](auto sum) HWY_ATTR { return hn::Add(sum, first); },
                [&](auto sum) HWY_ATTR { return hn::Add(sum, last); });
  }
  if (product.rectifies) {
    sums.finish([&](auto sum) HWY_ATTR { return hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum); },
                [&](auto sum)
                    HWY_ATTR { return hn::IfThenElse(hn::Lt(sum, hn::Zero(d_last)), hn::Zero(d_last), sum); });
  }
}

/// One tile, kRows x kWidth vectors, of which `columns` columns are stored. Of B more are read only if the last vector
/// is said to be whole.
template <class T, int kRows, int kWidth, RowsOfA kRowsOfA, RowsOfB kRowsOfB, LastVector kLast>
HWY_INLINE void multiply_tile(const PanelProduct<T>& product, const T* HWY_RESTRICT b, T* HWY_RESTRICT c,
                              std::int64_t columns, T* HWY_RESTRICT packed, Prefetch& next, Prefetch& next_slivers) {
  const Vector<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const typename LastTag<T, kLast>::Type d_last;
  Sums<T, kRows, kWidth, kLast> sums;
  sums.clear();
  const T* HWY_RESTRICT a = product.a;
  const auto a_row_step = row_step_of<T, kRowsOfA>(product);
  const auto a_depth_step = depth_step_of<T, kRowsOfA>(product);
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
    if constexpr (kRowsOfA == RowsOfA::transposed) hwy::Prefetch(a + kRowsAhead * a_depth_step);
    sums.add(a, a_row_step, b_first, b_last);
    a += a_depth_step;
  };
  const std::int64_t last = product.depth < kDepthPerRowOfC * kRows ? 0 : kDepthPerRowOfC * kRows;
  if (last == 0 && product.depth >= kShallow && !product.streams) {
    for (int i = 0; i < kRows; ++i) {
      hwy::Prefetch(c + i * product.ldc);
      hwy::Prefetch(c + i * product.ldc + columns - 1);
    }
  }
  std::int64_t before_last = product.depth - last;
  for (; before_last >= kDepthAtOnce; before_last -= kDepthAtOnce) {
    next.advance();
    next_slivers.advance();
    for (std::int64_t p = 0; p < kDepthAtOnce; ++p) add_next();
  }
  for (; before_last > 0; --before_last) add_next();
  const T* row = c;
  for (std::int64_t p = last; p > 0; p -= kDepthPerRowOfC, row += product.ldc) {
    hwy::Prefetch(row);
    hwy::Prefetch(row + columns - 1);
    for (std::int64_t i = 0; i < kDepthPerRowOfC; ++i) add_next();
  }
  if (product.bias != nullptr || product.rectifies) finish_sums(sums, product, c - product.c, columns, shown);
  if constexpr (kLast == LastVector::whole && kRowsOfB == RowsOfB::evenly) {
    if (product.streams && columns == kWidth * lanes)
      return sums.write(c, product.ldc, Writer<T, Former::streamed, kLast>(product.alpha, product.beta, shown));
  }
  if (kLast != LastVector::whole || columns == kWidth * lanes) {
    if (product.beta == T(0)) {
      sums.write(c, product.ldc, Writer<T, Former::unread, kLast>(product.alpha, product.beta, shown));
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
template <class T, int kRows, RowsOfA kRowsOfA, RowsOfB kRowsOfB>
HWY_NOINLINE void multiply_rows(const PanelProduct<T>& product) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Vector<T>()));
  const T* b = product.b;
  T* packed = product.packed;
  const std::int64_t tiles = (product.columns + 2 * lanes - 1) / (2 * lanes);
  const std::int64_t steps = tiles * (product.depth / kDepthAtOnce);
  Prefetch next = product.next;
  next.spread(steps);
  Prefetch next_slivers = product.next_slivers;
  next_slivers.spread(steps);
  for (std::int64_t column = 0; column < product.columns; column += 2 * lanes, b += product.sliver_step) {
    const std::int64_t left = std::min(product.columns - column, 2 * lanes);
    T* const c = product.c + column;
    // Each tile's code stands here once for each way to end: nearly all of what the compiler takes is for it.
    if constexpr (kRowsOfB == RowsOfB::evenly_and_packed) {
      multiply_tile<T, kRows, 2, kRowsOfA, kRowsOfB, LastVector::whole>(product, b, c, left, packed, next,
                                                                        next_slivers);
      packed += 2 * lanes * product.depth;
    } else if (kMasks ? left == 2 * lanes : left > lanes) {
      multiply_tile<T, kRows, 2, kRowsOfA, kRowsOfB, LastVector::whole>(product, b, c, left, nullptr, next,
                                                                        next_slivers);
    } else if constexpr (!kMasks) {
      multiply_tile<T, kRows, 1, kRowsOfA, kRowsOfB, LastVector::whole>(product, b, c, left, nullptr, next,
                                                                        next_slivers);
    } else if (left > lanes && (kRowsOfB == RowsOfB::by_offsets || 2 * left > 3 * lanes)) {
      multiply_tile<T, kRows, 2, kRowsOfA, kRowsOfB, LastVector::in_part>(product, b, c, left, nullptr, next,
                                                                          next_slivers);
    } else if (left <= lanes && (kRowsOfB == RowsOfB::by_offsets || 2 * left > lanes)) {
      multiply_tile<T, kRows, 1, kRowsOfA, kRowsOfB, LastVector::in_part>(product, b, c, left, nullptr, next,
                                                                          next_slivers);
    } else if constexpr (kRowsOfB == RowsOfB::evenly) {
      if (left > lanes) {
        multiply_tile<T, kRows, 2, kRowsOfA, kRowsOfB, LastVector::half>(product, b, c, left, nullptr, next,
                                                                         next_slivers);
      } else {
        multiply_tile<T, kRows, 1, kRowsOfA, kRowsOfB, LastVector::half>(product, b, c, left, nullptr, next,
                                                                         next_slivers);
      }
    }
  }
}

}  // namespace gemm_register_tile
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
