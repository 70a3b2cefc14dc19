// The oracle of kernel_regression. Its bound, for a query: let e be the most by which a kernel's exponent a is off, for
// a row and for the nearest together. Then the row's weight is w times something from exp(-e) to exp(e), apart from the
// roundings of the exponential, and with f its target
//
//   |value found - value|  <=  sum of w (exp(e) - 1) |f - value|  +  the roundings of both sums
//                              --------------------------------------------------------------
//                                               sum of w exp(-e)  -  its roundings
//
// because the value is what makes the sum of w (f - value) zero. It is never more than the largest |f - value|.
#include "conformance/kernel_regression/kernel_regression_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::conformance {

namespace {

constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
Expected expected_of(long double value, long double bound) {
  const auto high = static_cast<double>(value);
  const bool is_finite = std::isfinite(high);
  return {.value = {high, is_finite ? static_cast<double>(value - static_cast<long double>(high)) : 0},
          .bound = static_cast<double>(bound) * (1 + 1e-6)};  // the bound's own roundings, in long double
}

Expected not_a_number() {
  return {.value = {std::numeric_limits<double>::quiet_NaN(), 0}, .bound = 0};
}

/// A row's weight, and the least and the most that a kernel's may be.
struct Weight {
  std::size_t row = 0;
  long double weight = 0;
  long double least = 0;
  long double most = 0;
};

}  // namespace

template <class T>
RegressionOracle<T>::RegressionOracle(const RegressionInputs<T>& inputs, Draw draw) : inputs_(inputs), draw_(draw) {
  const KernelRegression& p = inputs_.problem;
  const auto columns = static_cast<std::size_t>(p.columns);
  const auto rows = static_cast<std::size_t>(p.training_rows);
  centre_.assign(columns, 0);
  std::size_t counted = 0;
  for (std::size_t t = 0; t < std::min<std::size_t>(rows, KernelRegression::kCentreRows); ++t) {
    const auto row = inputs_.training.subspan(t * columns, columns);
    if (!has_part(row)) continue;
    ++counted;
    for (std::size_t j = 0; j < columns; ++j) centre_[j] += static_cast<long double>(row[j]);
  }
  for (long double& mean : centre_) mean /= static_cast<long double>(std::max<std::size_t>(counted, 1));
  for (std::size_t t = 0; t < rows; ++t) {
    const auto row = inputs_.training.subspan(t * columns, columns);
    lengths_.push_back(has_part(row) ? std::sqrt(squared_length(row, true)) : kInfinity);
    first_targets_.push_back(static_cast<long double>(inputs_.targets[t * static_cast<std::size_t>(p.outputs)]));
    largest_.push_back(0);
    for (std::size_t j = 0; j < columns; ++j) {
      const long double element = static_cast<long double>(row[j]) - centre_[j];
      largest_.back() = std::max(largest_.back(), element * element);
    }
  }
}

template <class T>
long double RegressionOracle<T>::squared_length(std::span<const T> row, bool from_centre) const {
  long double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const long double difference = static_cast<long double>(row[j]) - (from_centre ? centre_[j] : 0);
    sum += difference * difference;
  }
  return sum;
}

template <class T>
bool RegressionOracle<T>::has_part(std::span<const T> row) const {
  const long double length = squared_length(row, false);
  return std::is_same_v<T, std::uint8_t> ||
         length <= static_cast<long double>(std::numeric_limits<RegressionResult<T>>::max());
}

template <class T>
RegressionDistances RegressionOracle<T>::distances(std::int64_t query) const {
  const auto columns = static_cast<std::size_t>(inputs_.problem.columns);
  const auto of = inputs_.queries.subspan(static_cast<std::size_t>(query) * columns, columns);
  RegressionDistances distances;
  distances.squared.assign(lengths_.size(), kInfinity);
  distances.reach.assign(lengths_.size(), kInfinity);
  distances.spread.assign(lengths_.size(), kInfinity);
  if (!has_part(of)) return distances;
  const long double length = std::sqrt(squared_length(of, true));
  for (std::size_t t = 0; t < lengths_.size(); ++t) {
    if (!std::isfinite(lengths_[t])) continue;
    const auto row = inputs_.training.subspan(t * columns, columns);
    long double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      const long double difference = static_cast<long double>(of[j]) - static_cast<long double>(row[j]);
      sum += difference * difference;
    }
    distances.squared[t] = sum;
    distances.reach[t] = (length + lengths_[t]) * (length + lengths_[t]);
    // Two sums of squares, and twice a sum of products of both signs, the sum of whose squares is no larger than this.
    const long double of_query = length * length;
    const long double of_row = lengths_[t] * lengths_[t];
    distances.spread[t] = std::sqrt(of_query * of_query + of_row * of_row + 4 * of_query * largest_[t]);
  }
  return distances;
}

template <class T>
RegressionExpected RegressionOracle<T>::expected(const RegressionDistances& distances, double factor) const {
  const KernelRegression& p = inputs_.problem;
  const auto outputs = static_cast<std::size_t>(p.outputs);
  const auto classes = static_cast<std::size_t>(p.classes);
  const RegressionErrors errors(p, draw_, factor);
  RegressionExpected expected;
  const auto least = std::min_element(distances.squared.begin(), distances.squared.end());
  if (!std::isfinite(*least)) {
    expected.values.assign(outputs, not_a_number());
    expected.votes.assign(classes, not_a_number());
    expected.neighbours = expected.nearest_squared = not_a_number();
    return expected;
  }
  const auto nearest = static_cast<std::size_t>(least - distances.squared.begin());
  expected.nearest_row = static_cast<std::int64_t>(nearest);

  const Arithmetic arithmetic = arithmetic_of(p.result_type());
  const long double unit = arithmetic.unit_roundoff;
  const long double of_sums = gamma(static_cast<double>(p.training_rows) + 4, arithmetic.unit_roundoff);
  const long double lowest = errors.exponent(*least);
  // Any row that may be taken for the nearest: the one that is may be another, with the larger error.
  long double nearest_error = 0;
  long double squared_error_of_nearest = 0;
  std::size_t may_be_nearest = 0;
  for (std::size_t t = 0; t < distances.squared.size(); ++t) {
    if (!errors.may_replace(distances, nearest, t)) continue;
    const long double error = errors.squared_error(distances, t);
    nearest_error = std::max(nearest_error, errors.exponent_error(distances.squared[t], error));
    squared_error_of_nearest = std::max(squared_error_of_nearest, error);
    ++may_be_nearest;
  }
  std::vector<Weight> weights;
  for (std::size_t t = 0; t < distances.squared.size(); ++t) {
    if (!std::isfinite(distances.squared[t])) continue;
    const long double above = errors.exponent(distances.squared[t]) - lowest;
    const long double error = errors.exponent_error(distances.squared[t], errors.squared_error(distances, t)) +
                              nearest_error + RegressionErrors::kOfArgument * unit * above;
    const long double rounding = RegressionErrors::kOfExponential * unit;
    weights.push_back({t, std::exp(-above), std::exp(-above - error) * (1 - rounding),
                       std::exp(-std::max<long double>(above - error, 0)) * (1 + rounding)});
  }

  const auto bound_of = [&](const Weight& w) {
    return std::max(w.most - w.weight, w.weight - w.least) + 2 * arithmetic.smallest_normal;
  };
  long double sum = 0;
  long double sum_bound = 0;
  long double sum_most = 0;
  long double squares = 0;
  long double squares_bound = 0;
  for (const Weight& w : weights) {
    sum += w.weight;
    sum_bound += bound_of(w);
    sum_most += w.most;
    squares += w.weight * w.weight;
    squares_bound += bound_of(w) * (w.weight + w.most);
  }
  sum_bound += of_sums * sum_most;
  squares_bound += of_sums * sum_most;
  // The nearest row's weight is 1, whichever it is.
  const long double sum_least = std::max<long double>(sum - sum_bound, 1 - of_sums);
  const long double squares_least = std::max<long double>(squares - squares_bound, 1 - of_sums);

  for (std::size_t r = 0; r < outputs; ++r) {
    const auto target = [&](const Weight& w) { return static_cast<long double>(inputs_.targets[w.row * outputs + r]); };
    long double total = 0;
    for (const Weight& w : weights) {
      if (w.weight >= arithmetic.smallest_normal || std::isfinite(target(w))) total += w.weight * target(w);
    }
    const long double value = total / sum;
    if (!std::isfinite(value)) {
      expected.values.push_back(expected_of(value, 0));
      continue;
    }
    long double spread = 0;
    long double magnitude = 0;
    long double furthest = 0;
    for (const Weight& w : weights) {
      if (!std::isfinite(target(w))) continue;
      const long double away = std::abs(target(w) - value);
      spread += bound_of(w) * away;
      magnitude += w.most * (std::abs(target(w)) + std::abs(value));
      furthest = std::max(furthest, away);
    }
    const long double rounding = 2 * of_sums * magnitude / sum_least + 2 * arithmetic.smallest_normal;
    expected.values.push_back(expected_of(value, std::min(spread / sum_least, furthest) + rounding));
  }

  for (std::size_t c = 0; c < classes; ++c) {
    long double votes = 0;
    long double bound = 0;
    long double most = 0;
    for (const Weight& w : weights) {
      if (static_cast<double>(inputs_.targets[w.row * outputs]) != static_cast<double>(c)) continue;
      votes += w.weight;
      bound += bound_of(w);
      most += w.most;
    }
    expected.votes.push_back(expected_of(votes, bound + of_sums * most));
  }

  const long double neighbours = sum * sum / squares;
  const long double above = (sum + sum_bound) * (sum + sum_bound) / squares_least - neighbours;
  const long double below = neighbours - sum_least * sum_least / (squares + squares_bound);
  const auto all = static_cast<long double>(weights.size());
  expected.neighbours = expected_of(neighbours, std::min(std::max(above, below), all) + 4 * unit * neighbours);
  expected.nearest_squared = expected_of(*least, squared_error_of_nearest);
  expected.value_spread = errors.value_spread(distances, first_targets_, expected.values[0].value.high);
  // Which of several is taken is not by chance: the one that comes out smallest.
  if (may_be_nearest == 1) expected.squared_spread = static_cast<double>(errors.squared_spread(distances, nearest));
  return expected;
}

template <class T>
bool RegressionOracle<T>::may_be_nearest(const RegressionDistances& distances, std::int64_t row, double factor) const {
  const auto least = std::min_element(distances.squared.begin(), distances.squared.end());
  if (!std::isfinite(*least)) return row == -1;
  if (row < 0 || row >= inputs_.problem.training_rows) return false;
  return RegressionErrors(inputs_.problem, draw_, factor)
      .may_replace(distances, static_cast<std::size_t>(least - distances.squared.begin()),
                   static_cast<std::size_t>(row));
}

template class RegressionOracle<float>;
template class RegressionOracle<double>;
template class RegressionOracle<std::uint8_t>;

}  // namespace tessera::conformance
