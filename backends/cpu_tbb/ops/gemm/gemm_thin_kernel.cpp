// Scalar products of rows and columns, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen
// when it runs:
//
//                     column 0   ---- vector ---->         A group of rows meets a group of columns. For every vector
//                     column 1   ---- vector ---->         of p each row and each column is loaded once and each pair
//    row 0  -- vector -->   sum 0,0   sum 0,1              has a sum of its own, a vector in a register. At the end the
//    row 1  -- vector -->   sum 1,0   sum 1,1              lanes of a sum are added.
//    ...
//
// With AVX-512 up to 24 sums: 8 rows by 1 to 3 columns, 4 rows by 6. Rows come from memory and are read once; the
// columns stay in the first- or second-level cache. What does not fill a vector is read in part with AVX-512, and else
// added one by one.
#include "ops/gemm/gemm_thin_kernel.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_thin_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_thin_kernel {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kMostSums = 24;
#else
constexpr int kMostSums = 12;
#endif
/// Eight columns are two groups of four: a group of eight loads more vectors for its sums, and was slower.
constexpr int kMostColumns = 6;
constexpr int kMostRows = 8;
/// Rows that are whole groups of any size, 384 KiB of them at most.
constexpr std::int64_t kWholeGroups = 24;

/// Rows of a group that meets `columns` columns.
constexpr int rows_of_group(int columns) {
  return kMostSums / columns < kMostRows ? kMostSums / columns : kMostRows;
}

template <class T>
using Vector = hn::ScalableTag<T>;

/// The sums of one row, as a chain so that each is a variable of its own and stays in a register.
template <class T, int kColumns>
struct RowSums {
  using D = Vector<T>;
  using V = hn::VFromD<D>;
  HWY_INLINE void clear() {
    sum = hn::Zero(D());
    if constexpr (kColumns > 1) rest.clear();
  }
  HWY_INLINE void add(V row, const T* HWY_RESTRICT column, std::int64_t column_step) {
    sum = hn::MulAdd(row, hn::LoadU(D(), column), sum);
    if constexpr (kColumns > 1) rest.add(row, column + column_step, column_step);
  }
  /// Adds what does not fill a vector.
  template <class M>
  HWY_INLINE void add_part(V row, M shown, const T* HWY_RESTRICT column, std::int64_t column_step) {
    sum = hn::MulAdd(row, hn::MaskedLoad(shown, D(), column), sum);
    if constexpr (kColumns > 1) rest.add_part(row, shown, column + column_step, column_step);
  }
  /// Adds the last `left` elements one by one.
  HWY_INLINE void store(const T* HWY_RESTRICT row, const T* HWY_RESTRICT column, std::int64_t column_step,
                        std::int64_t left, T* HWY_RESTRICT sums) const {
    T total = hn::GetLane(hn::SumOfLanes(D(), sum));
    for (std::int64_t p = 0; p < left; ++p) total += row[p] * column[p];
    *sums = total;
    if constexpr (kColumns > 1) rest.store(row, column + column_step, column_step, left, sums + 1);
  }

  V sum;
  RowSums<T, kColumns - 1> rest;
};
template <class T>
struct RowSums<T, 0> {};

template <class T, int kRows, int kColumns>
struct GroupSums {
  HWY_INLINE void clear() {
    sums.clear();
    if constexpr (kRows > 1) rest.clear();
  }
  HWY_INLINE void add(const T* HWY_RESTRICT row, std::int64_t row_step, const T* HWY_RESTRICT column,
                      std::int64_t column_step) {
    sums.add(hn::LoadU(Vector<T>(), row), column, column_step);
    if constexpr (kRows > 1) rest.add(row + row_step, row_step, column, column_step);
  }
  template <class M>
  HWY_INLINE void add_part(const T* HWY_RESTRICT row, std::int64_t row_step, M shown, const T* HWY_RESTRICT column,
                           std::int64_t column_step) {
    sums.add_part(hn::MaskedLoad(shown, Vector<T>(), row), shown, column, column_step);
    if constexpr (kRows > 1) rest.add_part(row + row_step, row_step, shown, column, column_step);
  }
  HWY_INLINE void store(const ThinProduct<T>& product, const T* HWY_RESTRICT row, const T* HWY_RESTRICT column,
                        std::int64_t left, T* HWY_RESTRICT target) const {
    sums.store(row, column, product.column_step, left, target);
    if constexpr (kRows > 1) rest.store(product, row + product.row_step, column, left, target + product.sums_step);
  }

  RowSums<T, kColumns> sums;
  GroupSums<T, kRows - 1, kColumns> rest;
};
template <class T, int kColumns>
struct GroupSums<T, 0, kColumns> {};

/// kRows rows by kColumns columns.
template <class T, int kRows, int kColumns>
HWY_INLINE void multiply_group(const ThinProduct<T>& product, const T* rows, const T* columns, T* target) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Vector<T>()));
  const std::int64_t left = product.length % lanes;
  const std::int64_t row_step = product.row_step;
  const std::int64_t column_step = product.column_step;
  GroupSums<T, kRows, kColumns> sums;
  sums.clear();
  for (std::int64_t p = product.length - left; p > 0; p -= lanes, rows += lanes, columns += lanes)
    sums.add(rows, row_step, columns, column_step);
#if HWY_TARGET <= HWY_AVX3
  if (left > 0)
    sums.add_part(rows, row_step, hn::FirstN(Vector<T>(), static_cast<std::size_t>(left)), columns, column_step);
  sums.store(product, rows, columns, 0, target);
#else
  sums.store(product, rows, columns, left, target);
#endif
}

/// All rows by kColumns columns.
template <class T, int kColumns>
HWY_NOINLINE void multiply_columns(const ThinProduct<T>& product, std::int64_t first_row, std::int64_t last_row,
                                   std::int64_t column) {
  constexpr int kGroup = rows_of_group(kColumns);
  const T* const columns = product.columns + column * product.column_step;
  std::int64_t row = first_row;
  const auto rows_at = [&] { return product.rows + row * product.row_step; };
  const auto sums_at = [&] { return product.sums + row * product.sums_step + column; };
  for (; row + kGroup <= last_row; row += kGroup)
    multiply_group<T, kGroup, kColumns>(product, rows_at(), columns, sums_at());
  for (; row < last_row; ++row) multiply_group<T, 1, kColumns>(product, rows_at(), columns, sums_at());
}

template <class T, int... kColumnsLessOne>
void multiply_any(const ThinProduct<T>& product, std::integer_sequence<int, kColumnsLessOne...>) {
  using Function = void (*)(const ThinProduct<T>&, std::int64_t, std::int64_t, std::int64_t);
  static constexpr Function kFunctions[] = {multiply_columns<T, kColumnsLessOne + 1>...};
  // Groups of columns of nearly equal width; all of them meet some rows while these are in the cache.
  const std::int64_t groups = (product.column_count + kMostColumns - 1) / kMostColumns;
  const std::int64_t rows_at_once = groups == 1 ? product.row_count : kWholeGroups;
  for (std::int64_t row = 0; row < product.row_count; row += rows_at_once) {
    const std::int64_t last_row = row + rows_at_once < product.row_count ? row + rows_at_once : product.row_count;
    for (std::int64_t group = 0, column = 0; group < groups; ++group) {
      const std::int64_t width = product.column_count / groups + (group < product.column_count % groups ? 1 : 0);
      kFunctions[width - 1](product, row, last_row, column);
      column += width;
    }
  }
}

void thin_float32(const ThinProduct<float>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostColumns>());
}
void thin_float64(const ThinProduct<double>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostColumns>());
}

}  // namespace gemm_thin_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(thin_float32);
HWY_EXPORT(thin_float64);

template <>
void multiply_thin(const ThinProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(thin_float32)(product);
}
template <>
void multiply_thin(const ThinProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(thin_float64)(product);
}

}  // namespace tessera::cpu_tbb
#endif
