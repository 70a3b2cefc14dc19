// Bias, ReLU and pool, compiled once for every instruction set:
//
//     sums, pool_size rows     + bias, the larger of each column     max(0, .)     the larger of each window
//     | a b c d e f ... |  ->  | A B C D E F ... |  in vectors   ->  in vectors -> | max(A, B) max(C, D) ... |
//     | g h i j k l ... |
//
// The last step works in vectors for windows of 2 side by side, which are the even and the odd elements of two vectors;
// for other windows it works output by output. The end of a row is computed in vectors too: output by output it would
// take a comparison each that no processor predicts, 6 % of the time of 64 -> 64 channels, 3 x 3, 56 x 56, on a core of
// a Xeon. Any comparison with a NaN is false, so larger() asks for NaN separately, in order to keep it.
#include "ops/cnn_layer/cnn_layer_finish.h"

#include <algorithm>

#include "ops/cnn_layer/cnn_layer_operands.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cnn_layer/cnn_layer_finish.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cnn_layer_finish {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V larger(V a, V b) {
  return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

/// The largest sums of the columns from x on, with bias and ReLU.
template <class T>
HWY_INLINE auto finished_columns(const FinishedRow<T>& row, std::int64_t x) {
  const hn::ScalableTag<T> d;
  const auto bias = hn::Set(d, row.bias);
  const auto zero = hn::Zero(d);
  auto largest = hn::Add(hn::LoadU(d, row.sums + x), bias);
  for (std::int64_t i = 1; i < row.pool_size; ++i)
    largest = larger(largest, hn::Add(hn::LoadU(d, row.sums + i * row.sums_step + x), bias));
  return row.relu ? hn::IfThenElse(hn::Lt(largest, zero), zero, largest) : largest;
}

/// Writes outputs from x on, a vector of them or as many as are left.
template <class T, class V>
HWY_INLINE void put(V outputs, const FinishedRow<T>& row, std::int64_t x) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t count = std::min(row.columns - x, lanes);
  T* const target = row.output + x * row.output_step;
  if (row.output_step == 1 && count == lanes) return hn::StoreU(outputs, d, target);
  HWY_ALIGN T piece[hn::MaxLanes(d)];
  hn::Store(outputs, d, piece);
  for (std::int64_t k = 0; k < count; ++k) target[k * row.output_step] = piece[k];
}

/// Every output, where a vector of them is `outputs(x)`. The last vector begins earlier where it would not be whole.
template <class T, class Outputs>
HWY_INLINE void put_all(const FinishedRow<T>& row, const Outputs& outputs) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  std::int64_t x = 0;
  for (; x + lanes <= row.columns; x += lanes) put(outputs(x), row, x);
  if (x == row.columns) return;
  if (row.output_step == 1 && x > 0) x = row.columns - lanes;
  put(outputs(x), row, x);
}

template <class T>
HWY_INLINE void finish(const FinishedRow<T>& row) {
  if (row.pool_size == 1 && row.pool_stride == 1)
    return put_all(row, [&](std::int64_t x) HWY_ATTR { return finished_columns(row, x); });
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t width = (row.columns - 1) * row.pool_stride + row.pool_size;
  for (std::int64_t x = 0; x < width; x += lanes) hn::StoreU(finished_columns(row, x), d, row.scratch + x);
  const T* const found = row.scratch;
#if HWY_TARGET != HWY_SCALAR
  if (row.pool_size == 2 && row.pool_stride == 2) {
    return put_all(row, [&](std::int64_t x) HWY_ATTR {
      const auto low = hn::LoadU(d, found + 2 * x);
      const auto high = hn::LoadU(d, found + 2 * x + lanes);
      return larger(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
    });
  }
#endif
  for (std::int64_t x = 0; x < row.columns; ++x) {
    const T* const window = found + x * row.pool_stride;
    T largest = window[0];
    for (std::int64_t j = 1; j < row.pool_size; ++j) largest = cnn_larger(largest, window[j]);
    row.output[x * row.output_step] = largest;
  }
}

/// 0 times a number is 0 unless it is infinite or NaN.
template <class T>
HWY_INLINE bool are_finite(const T* HWY_RESTRICT numbers, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::Add(sum, hn::Mul(hn::Zero(d), hn::LoadU(d, numbers + i)));
  T rest = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) rest += T(0) * numbers[i];
  return rest == T(0);
}

void finish_float32(const FinishedRow<float>& row) {
  finish(row);
}
void finish_float64(const FinishedRow<double>& row) {
  finish(row);
}
bool finite_float32(const float* numbers, std::int64_t count) {
  return are_finite(numbers, count);
}
bool finite_float64(const double* numbers, std::int64_t count) {
  return are_finite(numbers, count);
}

}  // namespace cnn_layer_finish
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(finish_float32);
HWY_EXPORT(finish_float64);
HWY_EXPORT(finite_float32);
HWY_EXPORT(finite_float64);

template <>
void finish_row(const FinishedRow<float>& row) {
  HWY_DYNAMIC_DISPATCH(finish_float32)(row);
}
template <>
void finish_row(const FinishedRow<double>& row) {
  HWY_DYNAMIC_DISPATCH(finish_float64)(row);
}
template <>
bool all_finite(const float* numbers, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(finite_float32)(numbers, count);
}
template <>
bool all_finite(const double* numbers, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(finite_float64)(numbers, count);
}

}  // namespace tessera::cpu_tbb
#endif
