// What backends ask of conv2d's filter: its weights as numbers, its factors if it has rank 1, whether float arithmetic
// is exact on it, and the verdicts that follow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/conv2d.h>

#include "backend/sentence.h"
#include "backend/variant.h"

namespace tessera::mathematics {

/// A weight as a number to compute with: float, or an integer modulo 2^32.
template <class Sum>
[[nodiscard]] Sum conv2d_weight(double weight) noexcept {
  if constexpr (std::is_floating_point_v<Sum>) return static_cast<Sum>(weight);
  return static_cast<Sum>(static_cast<std::int64_t>(weight));
}

/// filter(i, j) = column[i] * row[j], exactly in the arithmetic of the problem's type.
struct FilterFactors {
  std::vector<double> column;  ///< filter_height values
  std::vector<double> row;     ///< filter_width values
};

namespace detail {

/// The weights as integers times 2^exponent, the smallest that hold them; nothing if their range is too wide.
struct ScaledFilter {
  std::vector<std::int64_t> values;
  int exponent = 0;
};
inline std::optional<ScaledFilter> scaled(const std::vector<double>& weights) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  constexpr int kMostBits = 60;
  int lowest = std::numeric_limits<int>::max();
  int highest = std::numeric_limits<int>::min();
  for (const double weight : weights) {
    if (weight == 0) continue;
    int exponent = 0;
    auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(weight, &exponent), kDigits));
    highest = exponent > highest ? exponent : highest;
    exponent -= kDigits;
    while (mantissa % 2 == 0) {
      mantissa /= 2;
      ++exponent;
    }
    lowest = exponent < lowest ? exponent : lowest;
  }
  if (highest < lowest) return std::nullopt;  // all are 0
  if (highest - lowest > kMostBits) return std::nullopt;
  ScaledFilter filter{{}, lowest};
  for (const double weight : weights) filter.values.push_back(static_cast<std::int64_t>(std::ldexp(weight, -lowest)));
  return filter;
}

/// Is value * 2^exponent a number of the type?
inline bool fits(std::int64_t value, int exponent, DataType type) {
  const double number = std::ldexp(static_cast<double>(value), exponent);
  if (static_cast<std::int64_t>(static_cast<double>(value)) != value) return false;
  if (type == DataType::float32) {
    return std::ldexp(static_cast<double>(static_cast<float>(number)), -exponent) == static_cast<double>(value);
  }
  return number == std::trunc(number) && number >= INT32_MIN && number <= INT32_MAX;
}

}  // namespace detail

/// The factors of a filter of rank 1; nothing if it has another rank, or if they are no numbers of the arithmetic type.
/// The filter is that of a problem which the front half has checked.
inline std::optional<FilterFactors> rank_one_factors(const Conv2d& problem) {
  // Then sums down the column are those of the filter, bit for bit.
  if (problem.filter_width == 1) return FilterFactors{problem.filter, {1}};
  const auto filter = detail::scaled(problem.filter);
  if (!filter) return std::nullopt;
  const std::int64_t rows = problem.filter_height;
  const std::int64_t columns = problem.filter_width;
  const auto at = [&](std::int64_t i, std::int64_t j) { return filter->values[i * columns + j]; };
  // The first column of the filter that is not all 0, divided by its greatest common divisor, is the column factor. The
  // row factor then follows from any element of it that is not 0.
  std::int64_t pivot_column = 0;
  std::int64_t divisor = 0;
  for (; divisor == 0; ++pivot_column) {
    for (std::int64_t i = 0; i < rows; ++i) divisor = std::gcd(divisor, at(i, pivot_column));
  }
  --pivot_column;
  std::vector<std::int64_t> column(static_cast<std::size_t>(rows));
  std::int64_t pivot_row = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    column[i] = at(i, pivot_column) / divisor;
    if (column[i] != 0) pivot_row = i;
  }
  std::vector<std::int64_t> row(static_cast<std::size_t>(columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    if (at(pivot_row, j) % column[pivot_row] != 0) return std::nullopt;
    row[j] = at(pivot_row, j) / column[pivot_row];
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(column[i], row[j], &product) || product != at(i, j)) return std::nullopt;
    }
  }
  // The common factor 2^exponent goes into the row.
  FilterFactors factors;
  for (const std::int64_t value : column) {
    if (!detail::fits(value, 0, problem.type)) return std::nullopt;
    factors.column.push_back(static_cast<double>(value));
  }
  for (const std::int64_t value : row) {
    if (!detail::fits(value, filter->exponent, problem.type)) return std::nullopt;
    factors.row.push_back(std::ldexp(static_cast<double>(value), filter->exponent));
  }
  return factors;
}

/// The largest magnitude of pixels whose convolution float arithmetic computes exactly, in any order of summation:
/// times the sum of the weights' magnitudes it must not pass 2^24. Infinite if all weights are 0.
inline double largest_exact_in_float32(const Conv2d& problem) {
  constexpr double kExact = 1 << 24;
  double magnitudes = 0;
  for (const double weight : problem.filter) magnitudes += std::fabs(weight);
  return magnitudes == 0 ? INFINITY : std::floor(kExact / magnitudes);
}

/// Does float arithmetic give the exact integers? Known for uint8 and int16 alone: an int32 may hold anything.
inline bool is_exact_in_float32(const Conv2d& problem) {
  const double largest = problem.type == DataType::uint8 ? 255.0 : problem.type == DataType::int16 ? 32768.0 : INFINITY;
  return largest <= largest_exact_in_float32(problem);
}

/// How far sums along the row and then down the column may be off, as a multiple of the direct sum's bound; the filter
/// has factors. Of a window with h rows and w columns in the image, a term of the direct sum is rounded h * w times at
/// most; here h + w times, or once less where the products with one of the factors are exact. That is more only where
/// a window at the image's edge holds one row or one column: twice as much for a single pixel.
inline double separable_error_factor(const Conv2d& problem) {
  if (problem.type != DataType::float32) return 1;
  const auto is_exact = [](const std::vector<double>& weights) {
    for (const double weight : weights) {
      int exponent = 0;
      if (weight != 0 && std::fabs(std::frexp(weight, &exponent)) != 0.5) return false;
    }
    return true;
  };
  const auto factors = rank_one_factors(problem);
  if (!factors || is_exact(factors->column) || is_exact(factors->row)) return 1;
  if (problem.border == Border::valid) return problem.filter_height > 1 && problem.filter_width > 1 ? 1 : 2;
  const auto fewest = [](std::int64_t size, std::int64_t filter, std::int64_t anchor) {
    return std::min({size, filter - anchor, anchor + 1});
  };
  const bool holds_two = fewest(problem.height, problem.filter_height, problem.anchor_y) > 1 &&
                         fewest(problem.width, problem.filter_width, problem.anchor_x) > 1;
  return holds_two ? 1 : 2;
}

/// Yes if rank_one_factors() finds them, and with accuracy strict if sums by them are as exact as direct ones.
inline backend::Verdict check_rank_one(const Conv2d& problem) {
  if (problem.accuracy == Accuracy::strict && separable_error_factor(problem) > 1) {
    return backend::Verdict::no(
        "where a window of conv2d holds one pixel of the image, a column times a row is rounded twice, but accuracy is "
        "strict");
  }
  if (rank_one_factors(problem)) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("the filter of conv2d is not exactly a column times a row in ",
                                                to_string(problem.output_type())));
}

/// For variants that are written out for the sizes of the study.
inline backend::Verdict check_square_3_5_7(const Conv2d& problem) {
  const std::int64_t size = problem.filter_height;
  if (size == problem.filter_width && (size == 3 || size == 5 || size == 7)) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("the filter of conv2d is ", problem.filter_height, " x ",
                                                problem.filter_width, ", but must be 3 x 3, 5 x 5 or 7 x 7"));
}

}  // namespace tessera::mathematics
