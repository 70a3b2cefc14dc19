// The rows of a strip as tiles (conv2d_marching_tile.h): which filters are written out, what is stored and how.
// Included once for every instruction set (Highway).
#include "ops/conv2d/conv2d_marching_kernel.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tessera/ops/conv2d.h>

#if defined(TESSERA_CONV2D_MARCHING_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_CONV2D_MARCHING_ROWS_H
#undef TESSERA_CONV2D_MARCHING_ROWS_H
#else
#define TESSERA_CONV2D_MARCHING_ROWS_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_tile.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_rows {

template <class Lane, class Output, class V>
HWY_INLINE void store_pair(Output* HWY_RESTRICT target, V left, V right, bool streams) {
  const hn::CappedTag<Output, kMostLanes> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if constexpr (std::is_same_v<Lane, Output>) {
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

/// The first `count` numbers of the two vectors, where nothing may be written behind them.
template <class Lane, class Output, class V>
HWY_INLINE void store_first(Output* HWY_RESTRICT target, V left, V right, std::int64_t count) {
  const hn::CappedTag<Output, kMostLanes> d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (std::is_same_v<Lane, Output>) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::BlendedStore(left, hn::FirstN(d, static_cast<std::size_t>(std::min(count, lanes))), d, target);
    if (count > lanes) {
      hn::BlendedStore(right, hn::FirstN(d, static_cast<std::size_t>(count - lanes)), d, target + lanes);
    }
  } else {
    store_first<Output>(target, hn::ConvertTo(d, left), hn::ConvertTo(d, right), count);
  }
#else
  HWY_ALIGN Output both[2 * hn::MaxLanes(d)];
  store_pair<Lane>(both, left, right, false);
  std::copy_n(both, count, target);
#endif
}

/// The largest magnitude seen, in each lane.
class Largest {
  using D = hn::CappedTag<std::uint32_t, kMostLanes>;

 public:
  HWY_INLINE explicit Largest(std::int32_t allowed)
      : allowed_(hn::Set(D(), static_cast<std::uint32_t>(allowed))), seen_(hn::Zero(D())) {}

  /// Looks at the two vectors at `offset` of each row. A pixel from -allowed to allowed lies from 0 to 2 * allowed once
  /// `allowed` is added, so that one unsigned maximum finds those that are too small and too large.
  HWY_INLINE void take(const Int32AsFloat* const* rows, std::int64_t count, std::int64_t offset) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
    for (std::int64_t row = 0; row < count; ++row) {
      const auto* const pixels = reinterpret_cast<const std::uint32_t*>(rows[row] + offset);
      const auto left = hn::Add(hn::LoadU(D(), pixels), allowed_);
      const auto right = hn::Add(hn::LoadU(D(), pixels + lanes), allowed_);
      seen_ = hn::Max(seen_, hn::Max(left, right));
    }
  }
  [[nodiscard]] HWY_INLINE bool is_allowed() const {
    return hn::AllTrue(D(), hn::Eq(hn::Max(seen_, hn::Add(allowed_, allowed_)), hn::Add(allowed_, allowed_)));
  }

 private:
  hn::VFromD<D> allowed_;
  hn::VFromD<D> seen_;
};

/// All tiles of the rows, from left to right. Where there are fewer than kRows rows, their sources are repeated, which
/// computes rows that are not stored. False if a pixel is larger than allowed.
template <int kHeight, int kWidth, class Source, class Output>
HWY_NOINLINE bool march_tiles(const MarchingRows<Source, Output>& rows, const Source* const* sources,
                              const Source* const* upper) {
  using Lane = typename Elements<Source>::Lane;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<Source>()));
  const auto count = static_cast<int>(rows.rows);
  bool streams = rows.streams;
  for (int row = 0; row < count; ++row) {
    streams =
        streams &&
        reinterpret_cast<std::uintptr_t>(rows.targets[row]) % (static_cast<std::uintptr_t>(lanes) * sizeof(Lane)) == 0;
  }
  constexpr bool kChecks = std::is_same_v<Source, Int32AsFloat>;
  const std::int64_t source_rows = kRows + rows.filter_height - 1;
  [[maybe_unused]] Largest largest(rows.largest);
  std::int64_t x = 0;
  for (; x < rows.columns; x += 2 * lanes) {
    if constexpr (kChecks) largest.take(sources, source_rows, x);
    const Upcoming upcoming{
        {rows.upcoming, rows.upcoming_rows, x * rows.pixel_bytes, 2 * lanes * rows.pixel_bytes},
        {reinterpret_cast<const unsigned char* const*>(rows.upcoming_targets), rows.upcoming_target_rows,
         x * static_cast<std::int64_t>(sizeof(Output)), 2 * lanes * static_cast<std::int64_t>(sizeof(Output))}};
    RowSums<Source, kRows> sums;
    sums.clear();
    if constexpr (std::is_same_v<Source, Int16Pair>) {
      if (upper != nullptr) {
        add_tile<kHeight, kWidth>(upper, x, rows.weights, rows.filter_height, rows.filter_width, sums, {});
        sums.shift();
      }
    }
    add_tile<kHeight, kWidth>(sources, x, rows.weights, rows.filter_height, rows.filter_width, sums, upcoming);
    const std::int64_t left = rows.columns - x;
    if (left >= 2 * lanes) {
      sums.store(0, count,
                 [&](int row, auto v0, auto v1) { store_pair<Lane>(rows.targets[row] + x, v0, v1, streams); });
    } else {
      sums.store(0, count, [&](int row, auto v0, auto v1) { store_first<Lane>(rows.targets[row] + x, v0, v1, left); });
    }
  }
  if (streams) hwy::FlushStream();
  if constexpr (kChecks) {
    for (; x < rows.columns + rows.filter_width - 1; x += 2 * lanes) largest.take(sources, source_rows, x);
    return largest.is_allowed();
  }
  return true;
}

/// A filter's height as march_tiles() takes it.
template <int kHeight>
inline constexpr int kKnown = kHeight < kRows ? kHeight : 0;

/// The largest filter that has code with both sizes known. A sanitizer's build would take minutes for the larger ones,
/// and sees in 3 x 3 what it would see in 7 x 7.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kLargestKnown = 3;
#else
inline constexpr int kLargestKnown = 7;
#endif

/// Nothing unless the filter has kHeight rows of kSize columns.
template <int kHeight, int kSize, class Source, class Output>
std::optional<bool> march_if_filter_is([[maybe_unused]] const MarchingRows<Source, Output>& rows,
                                       const Source* const* sources, const Source* const* upper) {
  if constexpr (kSize <= kLargestKnown) {
    constexpr int kWidth = (kSize + Elements<Source>::kColumns - 1) / Elements<Source>::kColumns;
    if (rows.filter_height != kHeight || rows.filter_width != kWidth) return std::nullopt;
    constexpr int kTaken = kKnown<kHeight>;
    return march_tiles < kTaken, kTaken == 0 ? 0 : kWidth > (rows, sources, upper);
  } else {
    return std::nullopt;
  }
}

/// Chooses the code for the filter. Square filters of 3, 5 and 7, and single rows of these sizes, have code with both
/// sizes known to the compiler; for other filters the height alone is known. A height of kRows or more never is.
template <class Source, class Output>
bool march_for_filter(const MarchingRows<Source, Output>& rows, const Source* const* sources,
                      const Source* const* upper) {
  if (const auto done = march_if_filter_is<3, 3>(rows, sources, upper)) return *done;
  if (const auto done = march_if_filter_is<5, 5>(rows, sources, upper)) return *done;
  if (const auto done = march_if_filter_is<7, 7>(rows, sources, upper)) return *done;
  if (const auto done = march_if_filter_is<1, 3>(rows, sources, upper)) return *done;
  if (const auto done = march_if_filter_is<1, 5>(rows, sources, upper)) return *done;
  if (const auto done = march_if_filter_is<1, 7>(rows, sources, upper)) return *done;
  switch (rows.filter_height) {
    case 1: return march_tiles<1, 0>(rows, sources, upper);
    case 2: return march_tiles<2, 0>(rows, sources, upper);
    case 3: return march_tiles<3, 0>(rows, sources, upper);
    case 4: return march_tiles<kKnown<4>, 0>(rows, sources, upper);
    case 5: return march_tiles<kKnown<5>, 0>(rows, sources, upper);
    case 6: return march_tiles<kKnown<6>, 0>(rows, sources, upper);
    case 7: return march_tiles<kKnown<7>, 0>(rows, sources, upper);
    default: return march_tiles<0, 0>(rows, sources, upper);
  }
}

/// All rows in steps of kRows. Ends early, and returns false, with the first step in which a pixel is larger than
/// allowed.
template <class Source, class Output>
HWY_INLINE bool march_in_steps(MarchingRows<Source, Output> rows) {
  const std::int64_t all = rows.rows;
  const std::int64_t tail = rows.filter_height - 1;
  for (std::int64_t first = 0; first < all; first += kRows) {
    rows.rows = std::min<std::int64_t>(kRows, all - first);
    if (rows.rows == kRows) {
      if (!march_for_filter(rows, rows.sources, rows.upper_sources)) return false;
    } else {
      constexpr std::int64_t kMost = kMarchingRows + Conv2d::kLargestFilter - 1;
      const Source* repeated[kMost];
      const Source* upper[kMost];
      for (std::int64_t i = 0; i < kRows + tail; ++i) {
        const std::int64_t row = std::min(i, rows.rows + tail - 1);
        repeated[i] = rows.sources[row];
        if (rows.upper_sources != nullptr) upper[i] = rows.upper_sources[row];
      }
      if (!march_for_filter(rows, repeated, rows.upper_sources != nullptr ? upper : nullptr)) return false;
    }
    rows.sources += kRows;
    if (rows.upper_sources != nullptr) rows.upper_sources += kRows;
    rows.targets += kRows;
  }
  return true;
}

}  // namespace conv2d_marching_rows
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
