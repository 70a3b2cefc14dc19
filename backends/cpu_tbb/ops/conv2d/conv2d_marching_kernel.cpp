// Output rows of a strip, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen when it
// runs:
//
//     sources            targets                 One tile is kRows rows x 2 vectors of sums that stay in registers
//     row 0   x x x      row 0   s s             while the source rows pass by from top to bottom. At each source row
//     row 1   x x x      row 1   s s             and each column of the filter, two vectors are loaded once, at any
//     row 2   x x x   >  row 2   s s             alignment, and added to the sums of every output row that they belong
//     ...                ...                     to: row r takes the weight (source row - r). Which rows those are is
//     row 9   x x x      row 7   s s             known when it is compiled, so nothing is asked inside.
//
// Per source row and column of the filter: 2 loads, and for each of the up to 8 sums a broadcast weight and 2
// multiply-adds; a pixel is read from the first-level cache (kRows + height - 1) / kRows * width times instead of
// height
// * width. 8 rows x 2 vectors are 16 sums: as many as hide the latency of two multiply-add units of 4 cycles, twice,
// and 32 registers hold them with room for weights. With 16 registers it is 5 rows, without multiply-add 4.
#include "ops/conv2d/conv2d_marching_kernel.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/conv2d.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kRows = 8;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kRows = 5;
#else
constexpr int kRows = 4;
#endif
static_assert(kRows <= kMarchingRows);

/// sum + weight * pixel; integers wrap around.
template <class V>
HWY_INLINE V multiply_add(V weight, V pixel, V sum) {
  if constexpr (std::is_same_v<hn::TFromV<V>, float>) {
    return hn::MulAdd(weight, pixel, sum);
  } else {
    return hn::Add(hn::Mul(weight, pixel), sum);
  }
}

/// The sums of kCount rows, as a chain so that each is a variable of its own and stays in a register.
template <class Sum, int kCount>
struct RowSums {
  using D = hn::ScalableTag<Sum>;
  using V = hn::VFromD<D>;

  HWY_INLINE void clear() {
    left = hn::Zero(D());
    right = hn::Zero(D());
    if constexpr (kCount > 1) rest.clear();
  }
  /// Adds the two vectors to rows kFirst to kLast - 1. `weight` is the first row's; each next row takes the one above.
  template <int kFirst, int kLast>
  HWY_INLINE void add(const Sum* weight, std::int64_t filter_width, V x0, V x1) {
    if constexpr (kFirst <= 0 && kLast > 0) {
      const V factor = hn::Set(D(), *weight);
      left = multiply_add(factor, x0, left);
      right = multiply_add(factor, x1, right);
    }
    if constexpr (kCount > 1 && kLast > 1) {
      rest.template add<kFirst - 1, kLast - 1>(weight - filter_width, filter_width, x0, x1);
    }
  }
  template <class Store>
  HWY_INLINE void store(int row, int rows, const Store& store_row) const {
    if (row >= rows) return;
    store_row(row, left, right);
    if constexpr (kCount > 1) rest.store(row + 1, rows, store_row);
  }

  V left;
  V right;
  RowSums<Sum, kCount - 1> rest;
};
template <class Sum>
struct RowSums<Sum, 0> {};

/// One source row, which belongs to the output rows kFirst to kLast - 1. The loop over the filter's columns is not
/// unrolled on purpose: with all columns in sight, GCC keeps weights in registers and reads the same pixels from the
/// cache again for each of them, across cache lines.
template <int kFirst, int kLast, class Sum, int kCount>
HWY_INLINE void add_source(const Sum* HWY_RESTRICT source, std::int64_t source_row, const Sum* weights,
                           std::int64_t width, RowSums<Sum, kCount>& sums) {
  const hn::ScalableTag<Sum> d;
  const Sum* weight = weights + source_row * width;  // of output row 0; where it has none, nothing is read
  for (std::int64_t j = 0; j < width; ++j) {
    sums.template add<kFirst, kLast>(weight + j, width, hn::LoadU(d, source + j),
                                     hn::LoadU(d, source + j + static_cast<std::int64_t>(hn::Lanes(d))));
  }
}

/// The first source rows, which the last output rows do not take yet: row r belongs to the output rows 0 to r.
template <int kRow, int kEnd, int kHeight, class Sum, int kCount>
HWY_INLINE void add_sources(const Sum* const* sources, std::int64_t offset, const Sum* weights, std::int64_t width,
                            RowSums<Sum, kCount>& sums) {
  if constexpr (kRow < kEnd) {
    constexpr int kFirst = kRow - kHeight + 1 > 0 ? kRow - kHeight + 1 : 0;
    constexpr int kLast = kRow + 1 < kCount ? kRow + 1 : kCount;
    add_source<kFirst, kLast>(sources[kRow] + offset, kRow, weights, width, sums);
    add_sources<kRow + 1, kEnd, kHeight>(sources, offset, weights, width, sums);
  }
}
/// The last source rows, which the first output rows do not take any more: kRow counts from the last full one.
template <int kRow, class Sum, int kCount>
HWY_INLINE void add_last_sources(const Sum* const* sources, std::int64_t offset, const Sum* weights,
                                 std::int64_t height, std::int64_t width, RowSums<Sum, kCount>& sums) {
  if constexpr (kRow < kCount) {
    const std::int64_t row = height - 1 + kRow;
    add_source<kRow, kCount>(sources[row] + offset, row, weights, width, sums);
    add_last_sources<kRow + 1>(sources, offset, weights, height, width, sums);
  }
}

/// The sums of one tile. kHeight is the filter's, or 0 for kRows and more.
template <int kHeight, class Sum>
HWY_INLINE void add_tile(const Sum* const* sources, std::int64_t offset, const Sum* weights, std::int64_t height,
                         std::int64_t width, RowSums<Sum, kRows>& sums) {
  if constexpr (kHeight != 0) {
    add_sources<0, kHeight + kRows - 1, kHeight>(sources, offset, weights, width, sums);
  } else {
    add_sources<0, kRows - 1, kRows>(sources, offset, weights, width, sums);
    for (std::int64_t row = kRows - 1; row < height; ++row) {
      add_source<0, kRows>(sources[row] + offset, row, weights, width, sums);
    }
    add_last_sources<1>(sources, offset, weights, height, width, sums);
  }
}

template <class Sum, class Output, class V>
HWY_INLINE void store_pair(Output* HWY_RESTRICT target, V left, V right, bool streams) {
  const hn::ScalableTag<Output> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if constexpr (std::is_same_v<Sum, Output>) {
    if (streams) {
      hn::Stream(left, d, target);
      hn::Stream(right, d, target + lanes);
    } else {
      hn::StoreU(left, d, target);
      hn::StoreU(right, d, target + lanes);
    }
  } else {
    store_pair<Output>(target, hn::ConvertTo(d, left), hn::ConvertTo(d, right), streams);
  }
}

/// All tiles of the rows, from left to right. Where there are fewer than kRows rows, their sources are repeated, which
/// computes rows that are not stored.
template <int kHeight, class Sum, class Output>
HWY_NOINLINE void march_rows(const MarchingRows<Sum, Output>& rows, const Sum* const* sources) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<Sum>()));
  const auto count = static_cast<int>(rows.rows);
  bool streams = rows.streams;
  for (int row = 0; row < count; ++row) {
    streams =
        streams &&
        reinterpret_cast<std::uintptr_t>(rows.targets[row]) % (static_cast<std::uintptr_t>(lanes) * sizeof(Sum)) == 0;
  }
  for (std::int64_t x = 0; x < rows.columns; x += 2 * lanes) {
    RowSums<Sum, kRows> sums;
    sums.clear();
    add_tile<kHeight>(sources, x, rows.weights, rows.filter_height, rows.filter_width, sums);
    const std::int64_t left = rows.columns - x;
    if (left >= 2 * lanes) {
      sums.store(0, count, [&](int row, auto v0, auto v1) { store_pair<Sum>(rows.targets[row] + x, v0, v1, streams); });
    } else {
      sums.store(0, count, [&](int row, auto v0, auto v1) {
        HWY_ALIGN Output edge[2 * hn::MaxLanes(hn::ScalableTag<Sum>())];
        store_pair<Sum>(edge, v0, v1, false);
        std::copy_n(edge, left, rows.targets[row] + x);
      });
    }
  }
  if (streams) hwy::FlushStream();
}

/// A filter's height as march_rows() takes it.
template <int kHeight>
inline constexpr int kKnown = kHeight < kRows ? kHeight : 0;

template <class Sum, class Output>
void march_some(const MarchingRows<Sum, Output>& rows, const Sum* const* sources) {
  switch (rows.filter_height) {
    case 1: return march_rows<1>(rows, sources);
    case 2: return march_rows<2>(rows, sources);
    case 3: return march_rows<3>(rows, sources);
    case 4: return march_rows<kKnown<4>>(rows, sources);
    case 5: return march_rows<kKnown<5>>(rows, sources);
    case 6: return march_rows<kKnown<6>>(rows, sources);
    case 7: return march_rows<kKnown<7>>(rows, sources);
    default: return march_rows<0>(rows, sources);
  }
}

/// In steps of kRows rows.
template <class Sum, class Output>
HWY_INLINE void march_all(MarchingRows<Sum, Output> rows) {
  const std::int64_t all = rows.rows;
  const std::int64_t tail = rows.filter_height - 1;
  for (std::int64_t first = 0; first < all; first += kRows) {
    rows.rows = std::min<std::int64_t>(kRows, all - first);
    if (rows.rows == kRows) {
      march_some(rows, rows.sources);
    } else {
      const Sum* repeated[kMarchingRows + Conv2d::kLargestFilter - 1];
      for (std::int64_t i = 0; i < kRows + tail; ++i) repeated[i] = rows.sources[std::min(i, rows.rows + tail - 1)];
      march_some(rows, repeated);
    }
    rows.sources += kRows;
    rows.targets += kRows;
  }
}

std::int64_t rows_together() {
  return kRows;
}
void march_uint32(const MarchingRows<std::uint32_t, std::uint32_t>& rows) {
  march_all(rows);
}
void march_float(const MarchingRows<float, float>& rows) {
  march_all(rows);
}
void march_float_to_int(const MarchingRows<float, std::int32_t>& rows) {
  march_all(rows);
}

}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(rows_together);
HWY_EXPORT(march_uint32);
HWY_EXPORT(march_float);
HWY_EXPORT(march_float_to_int);

std::int64_t marching_rows() {
  return HWY_DYNAMIC_DISPATCH(rows_together)();
}
void march(const MarchingRows<std::uint32_t, std::uint32_t>& rows) {
  HWY_DYNAMIC_DISPATCH(march_uint32)(rows);
}
void march(const MarchingRows<float, float>& rows) {
  HWY_DYNAMIC_DISPATCH(march_float)(rows);
}
void march(const MarchingRows<float, std::int32_t>& rows) {
  HWY_DYNAMIC_DISPATCH(march_float_to_int)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
