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

#include <hwy/cache_control.h>
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

/// Sums whose lanes are added up together: as many as a block of 128 bits has elements.
template <class T>
constexpr int kTogether = HWY_TARGET == HWY_SCALAR ? 1 : 16 / static_cast<int>(sizeof(T));

#if HWY_TARGET == HWY_SCALAR
template <class V>
HWY_INLINE auto total(V sum) {
  return hn::GetLane(sum);
}
#else

/// Adds up the blocks of 128 bits of a vector: the upper half to the lower until one block is left.
template <class D>
HWY_INLINE auto sum_of_blocks(D d, hn::VFromD<D> sum) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return sum;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)));
  }
}

/// The total of one sum's lanes. In every block (lane 0 + lane 2) + (lane 1 + lane 3), or of doubles lane 0 + lane 1,
/// and then the blocks: the order in which sums that are added up together have theirs.
HWY_INLINE float total(hn::VFromD<Vector<float>> sum) {
  sum = hn::Add(sum, hn::Shuffle1032(sum));
  return hn::GetLane(sum_of_blocks(Vector<float>(), hn::Add(sum, hn::Shuffle2301(sum))));
}
HWY_INLINE double total(hn::VFromD<Vector<double>> sum) {
  return hn::GetLane(sum_of_blocks(Vector<double>(), hn::Add(sum, hn::Shuffle01(sum))));
}

/// In every block the sums of its halves, of one vector and the other in turn.
template <class D, class V>
HWY_INLINE V pairs(D d, V even, V odd) {
  return hn::Add(hn::InterleaveLower(d, even, odd), hn::InterleaveUpper(d, even, odd));
}
/// Stores the totals of four sums, or of two sums of doubles, beside each other: about half of the instructions that
/// they take one by one.
template <class V>
HWY_INLINE void store_totals(V a, V b, V c, V d, float* HWY_RESTRICT totals) {
  const Vector<float> each;
  const hn::Repartition<double, Vector<float>> wide;
  const auto first = hn::BitCast(wide, pairs(each, a, b)), second = hn::BitCast(wide, pairs(each, c, d));
  const V sum = hn::Add(hn::BitCast(each, hn::InterleaveLower(wide, first, second)),
                        hn::BitCast(each, hn::InterleaveUpper(wide, first, second)));
  hn::Store(sum_of_blocks(each, sum), hn::Full128<float>(), totals);
}
template <class V>
HWY_INLINE void store_totals(V a, V b, double* HWY_RESTRICT totals) {
  const Vector<double> each;
  hn::Store(sum_of_blocks(each, pairs(each, a, b)), hn::Full128<double>(), totals);
}
#endif

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
  template <int kColumn>
  [[nodiscard]] HWY_INLINE V at() const {
    if constexpr (kColumn == 0) return sum;
    if constexpr (kColumn > 0) return rest.template at<kColumn - 1>();
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
  /// kFar: the same of the next group is fetched `ahead`, because no processor foresees where its rows begin.
  template <bool kFar>
  HWY_INLINE void add(const T* HWY_RESTRICT row, std::int64_t row_step, std::int64_t ahead,
                      const T* HWY_RESTRICT column, std::int64_t column_step) {
    if constexpr (kFar) hwy::Prefetch(row + ahead);
    sums.add(hn::LoadU(Vector<T>(), row), column, column_step);
    if constexpr (kRows > 1) rest.template add<kFar>(row + row_step, row_step, ahead, column, column_step);
  }
  template <class M>
  HWY_INLINE void add_part(const T* HWY_RESTRICT row, std::int64_t row_step, M shown, const T* HWY_RESTRICT column,
                           std::int64_t column_step) {
    sums.add_part(hn::MaskedLoad(shown, Vector<T>(), row), shown, column, column_step);
    if constexpr (kRows > 1) rest.add_part(row + row_step, row_step, shown, column, column_step);
  }
  template <int kRow, int kColumn>
  [[nodiscard]] HWY_INLINE hn::VFromD<Vector<T>> at() const {
    if constexpr (kRow == 0) return sums.template at<kColumn>();
    if constexpr (kRow > 0) return rest.template at<kRow - 1, kColumn>();
  }

  RowSums<T, kColumns> sums;
  GroupSums<T, kRows - 1, kColumns> rest;
};
template <class T, int kColumns>
struct GroupSums<T, 0, kColumns> {};

/// Stores the totals from (kRow, kColumn) on, and adds to each the last `left` elements one by one.
template <int kRow, int kColumn, class T, int kRows, int kColumns>
HWY_INLINE void store_from(const GroupSums<T, kRows, kColumns>& sums, const ThinProduct<T>& product,
                           const T* HWY_RESTRICT rows, const T* HWY_RESTRICT columns, std::int64_t left,
                           T* HWY_RESTRICT target) {
  constexpr int kCount = kRow + kTogether<T> <= kRows ? kTogether<T> : 1;
  alignas(16) T totals[kTogether<T>];
  if constexpr (kCount == 4) {
    store_totals(sums.template at<kRow, kColumn>(), sums.template at<kRow + 1, kColumn>(),
                 sums.template at<kRow + 2, kColumn>(), sums.template at<kRow + 3, kColumn>(), totals);
  } else if constexpr (kCount == 2) {
    store_totals(sums.template at<kRow, kColumn>(), sums.template at<kRow + 1, kColumn>(), totals);
  } else {
    totals[0] = total(sums.template at<kRow, kColumn>());
  }
  const T* const column = columns + kColumn * product.column_step;
  for (int i = 0; i < kCount; ++i) {
    const T* const row = rows + (kRow + i) * product.row_step;
    for (std::int64_t p = 0; p < left; ++p) totals[i] += row[p] * column[p];
    target[(kRow + i) * product.sums_step + kColumn] = totals[i];
  }
  if constexpr (kColumn + 1 < kColumns) {
    store_from<kRow, kColumn + 1>(sums, product, rows, columns, left, target);
  } else if constexpr (kRow + kCount < kRows) {
    store_from<kRow + kCount, 0>(sums, product, rows, columns, left, target);
  }
}

/// kRows rows by kColumns columns.
template <class T, int kRows, int kColumns, bool kFar>
HWY_INLINE void multiply_group(const ThinProduct<T>& product, const T* rows, const T* columns, T* target) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Vector<T>()));
  const std::int64_t left = product.length % lanes;
  const std::int64_t row_step = product.row_step;
  const std::int64_t column_step = product.column_step;
  GroupSums<T, kRows, kColumns> sums;
  sums.clear();
  for (std::int64_t p = product.length - left; p > 0; p -= lanes, rows += lanes, columns += lanes)
    sums.template add<kFar>(rows, row_step, kRows * row_step, columns, column_step);
#if HWY_TARGET <= HWY_AVX3
  if (left > 0)
    sums.add_part(rows, row_step, hn::FirstN(Vector<T>(), static_cast<std::size_t>(left)), columns, column_step);
  store_from<0, 0>(sums, product, rows, columns, 0, target);
#else
  store_from<0, 0>(sums, product, rows, columns, left, target);
#endif
}

/// All rows by kColumns columns.
template <class T, int kColumns, bool kFar>
HWY_NOINLINE void multiply_columns(const ThinProduct<T>& product, std::int64_t first_row, std::int64_t last_row,
                                   std::int64_t column) {
  constexpr int kGroup = rows_of_group(kColumns);
  const T* const columns = product.columns + column * product.column_step;
  std::int64_t row = first_row;
  const auto rows_at = [&] { return product.rows + row * product.row_step; };
  const auto sums_at = [&] { return product.sums + row * product.sums_step + column; };
  for (; row + kGroup <= last_row; row += kGroup)
    multiply_group<T, kGroup, kColumns, kFar>(product, rows_at(), columns, sums_at());
  for (; row < last_row; ++row) multiply_group<T, 1, kColumns, kFar>(product, rows_at(), columns, sums_at());
}

template <class T, int... kColumnsLessOne>
void multiply_any(const ThinProduct<T>& product, std::integer_sequence<int, kColumnsLessOne...>) {
  using Function = void (*)(const ThinProduct<T>&, std::int64_t, std::int64_t, std::int64_t);
  static constexpr Function kNear[] = {multiply_columns<T, kColumnsLessOne + 1, false>...};
  static constexpr Function kFar[] = {multiply_columns<T, kColumnsLessOne + 1, true>...};
  const Function* const functions = product.is_far ? kFar : kNear;
  // Groups of columns of nearly equal width; all of them meet some rows while these are in the cache.
  const std::int64_t groups = (product.column_count + kMostColumns - 1) / kMostColumns;
  const std::int64_t rows_at_once = groups == 1 ? product.row_count : kWholeGroups;
  for (std::int64_t row = 0; row < product.row_count; row += rows_at_once) {
    const std::int64_t last_row = row + rows_at_once < product.row_count ? row + rows_at_once : product.row_count;
    for (std::int64_t group = 0, column = 0; group < groups; ++group) {
      const std::int64_t width = product.column_count / groups + (group < product.column_count % groups ? 1 : 0);
      functions[width - 1](product, row, last_row, column);
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
