// kernel_regression: the distance of two rows and the weight that it gives. Exponents are differences of distances, in
// double: what two large exponents have in common would cost the digits that matter.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/kernel_regression/kernel_regression_arguments.h"

namespace tessera::cuda {

template <class Squared>
__device__ __forceinline__ Squared infinitely_far() {
  if constexpr (std::is_integral_v<Squared>) {
    return INT64_MAX;
  } else {
    return INFINITY;
  }
}

/// Of a query to which every row is infinitely far, which no query of bytes is.
template <class Squared>
__device__ __forceinline__ Squared no_distance() {
  if constexpr (std::is_integral_v<Squared>) {
    return -1;
  } else {
    return NAN;
  }
}

/// The sum of squared differences; infinite if one of the rows holds what is not finite, or is too long.
template <class T>
__device__ __forceinline__ typename RegressionArguments<T>::Squared regression_distance(const T* query, const T* row,
                                                                                        std::int64_t columns) {
  using Squared = typename RegressionArguments<T>::Squared;
  Squared sum = 0;
  Squared length = 0;
  Squared query_length = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    const Squared number = static_cast<Squared>(row[j]);
    const Squared of_query = static_cast<Squared>(query[j]);
    sum += (of_query - number) * (of_query - number);
    if constexpr (std::is_floating_point_v<T>) {
      length += number * number;
      query_length += of_query * of_query;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!isfinite(length) || !isfinite(query_length)) return infinitely_far<Squared>();
  }
  return sum;
}

/// The weight of a row that is so much further away than the nearest; 0 where it is smaller than the smallest normal
/// number.
template <class Result>
__device__ __forceinline__ Result weight_beyond(double factor, double above) {
  const double exponent = -factor * above;
  if constexpr (std::is_same_v<Result, double>) {
    const double weight = exp(exponent);
    return weight < DBL_MIN ? 0 : weight;
  } else {
    const float weight = expf(static_cast<float>(exponent));
    return weight < FLT_MIN ? 0 : weight;
  }
}

/// The same from both distances, or their squares.
template <class Result, class Squared>
__device__ __forceinline__ Result regression_weight(double factor, bool is_euclidean, Squared squared, Squared least) {
  if (squared == least) return 1;
  if (squared == infinitely_far<Squared>()) return 0;
  double above = static_cast<double>(squared - least);
  if (is_euclidean) above /= sqrt(static_cast<double>(squared)) + sqrt(static_cast<double>(least));
  return weight_beyond<Result>(factor, above);
}

}  // namespace tessera::cuda
