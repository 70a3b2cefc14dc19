// Distances and weights, compiled once for every instruction set from SSE to AVX-512 and chosen when it runs. Next to
// the products of a row's hundreds of numbers this is little: a multiply-add and a minimum for each pair of rows, and
// an exponential where a row is near enough to count.
#include "ops/kernel_regression/kernel_regression_fold.h"

#include <algorithm>
#include <array>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/kernel_regression/kernel_regression_fold.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace kernel_regression_fold {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Lanes = hn::CappedTag<T, static_cast<std::size_t>(kFoldStep)>;

template <class T>
T distances(T* HWY_RESTRICT dots, const T* HWY_RESTRICT lengths, T query_length, std::int64_t rows) {
  const Lanes<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto length = hn::Set(d, query_length);
  const auto minus_two = hn::Set(d, T(-2));
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  auto least = infinity;
  for (std::int64_t i = 0; i < rows; i += lanes) {
    const auto sum = hn::Add(length, hn::LoadU(d, lengths + i));
    const auto squared = hn::Max(hn::Zero(d), hn::MulAdd(minus_two, hn::LoadU(d, dots + i), sum));
    hn::StoreU(squared, d, dots + i);
    least = hn::Min(least, squared);
  }
  // The least of infinities is the largest number in Highway's plain C++.
  if (hn::AllTrue(d, hn::Eq(least, infinity))) return std::numeric_limits<T>::infinity();
  return hn::GetLane(hn::MinOfLanes(d, least));
}

template <class T>
void weights(const FoldWeights<T>& how, const T* HWY_RESTRICT squared, std::int64_t rows, T* HWY_RESTRICT weights) {
  const Lanes<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto least = hn::Set(d, how.least);
  const auto least_root = hn::Sqrt(least);
  const auto furthest = hn::Set(d, how.furthest);
  const auto minus_factor = hn::Set(d, -how.factor);
  const auto smallest = hn::Set(d, std::numeric_limits<T>::min());
  for (std::int64_t i = 0; i < rows; i += lanes) {
    const auto distance = hn::LoadU(d, squared + i);
    const auto counts = hn::Le(distance, furthest);
    if (hn::AllFalse(d, counts)) {  // mostly, which saves the exponentials
      hn::StoreU(hn::Zero(d), d, weights + i);
      continue;
    }
    const auto near = hn::IfThenElse(counts, distance, least);
    auto above = hn::Sub(near, least);
    if (how.is_euclidean) {
      // 0 / 0 where both are 0.
      const auto roots = hn::Add(hn::Sqrt(near), least_root);
      above = hn::Div(above, hn::Max(roots, smallest));
    }
    const auto weight = hn::Exp(d, hn::Mul(minus_factor, above));
    const auto is_normal = hn::And(counts, hn::Ge(weight, smallest));
    hn::StoreU(hn::IfThenElseZero(is_normal, weight), d, weights + i);
  }
}

/// T as double.
template <class D, class V>
HWY_INLINE hn::VFromD<D> widened(D d, V numbers) {
  if constexpr (sizeof(hn::TFromV<V>) == sizeof(double)) {
    return numbers;
  } else {
    return hn::PromoteTo(d, numbers);
  }
}

template <class T>
RegressionWeights sums(const T* HWY_RESTRICT weights, const T* HWY_RESTRICT targets, std::int64_t rows) {
  const hn::CappedTag<double, static_cast<std::size_t>(kFoldStep)> wide;
  const hn::Rebind<T, decltype(wide)> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  auto sum = hn::Zero(wide), squares = hn::Zero(wide), output = hn::Zero(wide);
  const auto add = [&](const T* some, const T* their_targets) {
    const auto narrow = hn::LoadU(d, some);
    const auto counts = hn::Ne(narrow, hn::Zero(d));
    if (hn::AllFalse(d, counts)) return;
    // A target that is not finite stays out where its row weighs nothing.
    const auto weight = widened(wide, narrow);
    sum = hn::Add(sum, weight);
    squares = hn::MulAdd(weight, weight, squares);
    output = hn::MulAdd(weight, widened(wide, hn::IfThenElseZero(counts, hn::LoadU(d, their_targets))), output);
  };
  std::int64_t i = 0;
  for (; i + lanes <= rows; i += lanes) add(weights + i, targets + i);
  if (i < rows) {
    std::array<T, kFoldStep> last_weights{}, last_targets{};
    std::copy_n(weights + i, rows - i, last_weights.begin());
    std::copy_n(targets + i, rows - i, last_targets.begin());
    add(last_weights.data(), last_targets.data());
  }
  const auto total = [&](auto numbers) { return hn::GetLane(hn::SumOfLanes(wide, numbers)); };
  return {.sum = total(sum), .squares = total(squares), .output = total(output)};
}

float distances_float(float* dots, const float* lengths, float query_length, std::int64_t rows) {
  return distances(dots, lengths, query_length, rows);
}
double distances_double(double* dots, const double* lengths, double query_length, std::int64_t rows) {
  return distances(dots, lengths, query_length, rows);
}
void weights_float(const FoldWeights<float>& how, const float* squared, std::int64_t rows, float* out) {
  weights(how, squared, rows, out);
}
void weights_double(const FoldWeights<double>& how, const double* squared, std::int64_t rows, double* out) {
  weights(how, squared, rows, out);
}

RegressionWeights sums_float(const float* weights, const float* targets, std::int64_t rows) {
  return sums(weights, targets, rows);
}
RegressionWeights sums_double(const double* weights, const double* targets, std::int64_t rows) {
  return sums(weights, targets, rows);
}

}  // namespace kernel_regression_fold
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(distances_float);
HWY_EXPORT(distances_double);
HWY_EXPORT(weights_float);
HWY_EXPORT(weights_double);
HWY_EXPORT(sums_float);
HWY_EXPORT(sums_double);

template <>
float fold_distances(float* dots, const float* lengths, float query_length, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(distances_float)(dots, lengths, query_length, rows);
}
template <>
double fold_distances(double* dots, const double* lengths, double query_length, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(distances_double)(dots, lengths, query_length, rows);
}
template <>
void fold_weights(const FoldWeights<float>& how, const float* squared, std::int64_t rows, float* weights) {
  HWY_DYNAMIC_DISPATCH(weights_float)(how, squared, rows, weights);
}
template <>
void fold_weights(const FoldWeights<double>& how, const double* squared, std::int64_t rows, double* weights) {
  HWY_DYNAMIC_DISPATCH(weights_double)(how, squared, rows, weights);
}
template <>
RegressionWeights fold_sums(const float* weights, const float* targets, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(sums_float)(weights, targets, rows);
}
template <>
RegressionWeights fold_sums(const double* weights, const double* targets, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(sums_double)(weights, targets, rows);
}

}  // namespace tessera::cpu_tbb
#endif
