// Sums of rows, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen when it runs:
//
//     factors (one, p)           matrix: rows p .. p + 7, read side by side from left to right
//     x x x x x x x x            +----------------------------------------+
//                          *     | v -> | v -> | ...                      |   For every vector of columns the sums are
//     in registers               +----------------------------------------+   loaded, 8 products added to each in the
//                          =     sums: rows of the first-level cache          order of p, and stored again.
//
// A row of the matrix lies in memory one element after the other, so that a few streams are read at the pace of memory,
// each element once. Meanwhile the same columns of the next rows are fetched, because no processor foresees where those
// begin: 5 x 1000 x 2048 floats take 175 us so and 300 without on two threads of an EPYC (without a file). Up to 24
// factors stand in registers with AVX-512: 8 rows for 1 to 3 sums, 3 rows for 8.
#include "ops/gemm/gemm_thin_streams.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_thin_streams.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_thin_streams {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kMostFactors = 24;
#else
constexpr int kMostFactors = 12;
#endif
constexpr int kMostStreams = 8;

/// Rows that are read side by side for `count` sums.
constexpr int streams_of(int count) {
  return kMostFactors / count < kMostStreams ? kMostFactors / count : kMostStreams;
}

template <class T>
using StreamVector = hn::ScalableTag<T>;

/// A vector of columns of every sum, as a chain so that each is a variable of its own and stays in a register.
template <class T, int kCount>
struct StreamSums {
  using D = StreamVector<T>;
  HWY_INLINE void load(const T* HWY_RESTRICT sums, std::int64_t step) {
    sum = hn::LoadU(D(), sums);
    if constexpr (kCount > 1) rest.load(sums + step, step);
  }
  HWY_INLINE void store(T* HWY_RESTRICT sums, std::int64_t step) const {
    hn::StoreU(sum, D(), sums);
    if constexpr (kCount > 1) rest.store(sums + step, step);
  }
  /// The same of columns that do not fill a vector.
  template <class M>
  HWY_INLINE void load_part(M shown, const T* HWY_RESTRICT sums, std::int64_t step) {
    sum = hn::MaskedLoad(shown, D(), sums);
    if constexpr (kCount > 1) rest.load_part(shown, sums + step, step);
  }
  template <class M>
  HWY_INLINE void store_part(M shown, T* HWY_RESTRICT sums, std::int64_t step) const {
    hn::BlendedStore(sum, shown, D(), sums);
    if constexpr (kCount > 1) rest.store_part(shown, sums + step, step);
  }

  hn::VFromD<D> sum;
  StreamSums<T, kCount - 1> rest;
};
template <class T>
struct StreamSums<T, 0> {};

/// The factors of one row of the matrix.
template <class T, int kCount>
struct RowFactors {
  using D = StreamVector<T>;
  HWY_INLINE void load(const T* HWY_RESTRICT factors, std::int64_t step) {
    factor = hn::Set(D(), *factors);
    if constexpr (kCount > 1) rest.load(factors + step, step);
  }
  HWY_INLINE void add(hn::VFromD<D> row, StreamSums<T, kCount>& sums) const {
    sums.sum = hn::MulAdd(factor, row, sums.sum);
    if constexpr (kCount > 1) rest.add(row, sums.rest);
  }

  hn::VFromD<D> factor;
  RowFactors<T, kCount - 1> rest;
};
template <class T>
struct RowFactors<T, 0> {};

template <class T, int kCount, int kRows>
struct GroupFactors {
  HWY_INLINE void load(const T* HWY_RESTRICT factors, std::int64_t step, std::int64_t p_step) {
    row.load(factors, step);
    if constexpr (kRows > 1) rest.load(factors + p_step, step, p_step);
  }
  HWY_INLINE void add(const T* HWY_RESTRICT matrix, std::int64_t row_step, std::int64_t ahead,
                      StreamSums<T, kCount>& sums) const {
    row.add(hn::LoadU(StreamVector<T>(), matrix), sums);
    hwy::Prefetch(matrix + ahead);
    if constexpr (kRows > 1) rest.add(matrix + row_step, row_step, ahead, sums);
  }
  template <class M>
  HWY_INLINE void add_part(M shown, const T* HWY_RESTRICT matrix, std::int64_t row_step,
                           StreamSums<T, kCount>& sums) const {
    row.add(hn::MaskedLoad(shown, StreamVector<T>(), matrix), sums);
    if constexpr (kRows > 1) rest.add_part(shown, matrix + row_step, row_step, sums);
  }

  RowFactors<T, kCount> row;
  GroupFactors<T, kCount, kRows - 1> rest;
};
template <class T, int kCount>
struct GroupFactors<T, kCount, 0> {};

/// Adds kRows rows from `p` on.
template <class T, int kCount, int kRows>
HWY_INLINE void add_group(const ThinStreams<T>& streams, std::int64_t p) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(StreamVector<T>()));
  const T* const factors = streams.factors + p * streams.factor_p_step;
  const T* const matrix = streams.matrix + p * streams.row_step;
  GroupFactors<T, kCount, kRows> group;
  group.load(factors, streams.factor_step, streams.factor_p_step);
  std::int64_t column = 0;
  for (; column + lanes <= streams.columns; column += lanes) {
    StreamSums<T, kCount> sums;
    sums.load(streams.sums + column, streams.sums_step);
    group.add(matrix + column, streams.row_step, kRows * streams.row_step, sums);
    sums.store(streams.sums + column, streams.sums_step);
  }
#if HWY_TARGET <= HWY_AVX3
  if (column == streams.columns) return;
  const auto shown = hn::FirstN(StreamVector<T>(), static_cast<std::size_t>(streams.columns - column));
  StreamSums<T, kCount> sums;
  sums.load_part(shown, streams.sums + column, streams.sums_step);
  group.add_part(shown, matrix + column, streams.row_step, sums);
  sums.store_part(shown, streams.sums + column, streams.sums_step);
#else
  for (; column < streams.columns; ++column) {
    for (std::int64_t one = 0; one < kCount; ++one) {
      T& sum = streams.sums[one * streams.sums_step + column];
      for (std::int64_t row = 0; row < kRows; ++row)
        sum +=
            factors[one * streams.factor_step + row * streams.factor_p_step] * matrix[row * streams.row_step + column];
    }
  }
#endif
}

template <class T, int kCount>
HWY_NOINLINE void add_rows(const ThinStreams<T>& streams) {
  constexpr int kRows = streams_of(kCount);
  for (std::int64_t one = 0; one < kCount; ++one)
    std::fill_n(streams.sums + one * streams.sums_step, streams.columns, T(0));
  std::int64_t p = 0;
  for (; p + kRows <= streams.length; p += kRows) add_group<T, kCount, kRows>(streams, p);
  for (; p < streams.length; ++p) add_group<T, kCount, 1>(streams, p);
}

template <class T, int... kCountLessOne>
void add_any(const ThinStreams<T>& streams, std::integer_sequence<int, kCountLessOne...>) {
  using Function = void (*)(const ThinStreams<T>&);
  static constexpr Function kFunctions[] = {add_rows<T, kCountLessOne + 1>...};
  kFunctions[streams.count - 1](streams);
}

void streams_float32(const ThinStreams<float>& streams) {
  add_any(streams, std::make_integer_sequence<int, ThinStreams<float>::kMost>());
}
void streams_float64(const ThinStreams<double>& streams) {
  add_any(streams, std::make_integer_sequence<int, ThinStreams<double>::kMost>());
}

}  // namespace gemm_thin_streams
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(streams_float32);
HWY_EXPORT(streams_float64);

template <>
void add_streams(const ThinStreams<float>& streams) {
  HWY_DYNAMIC_DISPATCH(streams_float32)(streams);
}
template <>
void add_streams(const ThinStreams<double>& streams) {
  HWY_DYNAMIC_DISPATCH(streams_float64)(streams);
}

}  // namespace tessera::cpu_tbb
#endif
