// What roundings do to a kernel's distances and weights.
#include "conformance/kernel_regression/kernel_regression_errors.h"

#include <algorithm>
#include <cmath>

namespace tessera::conformance {

namespace {

/// Roundings beyond the d of a sum: of a difference, its square and the exponent's two products.
constexpr double kMoreRoundings = 8;
/// The factor of distances that are computed from norms and a product; what a variant's passes it by is its product's.
constexpr double kFactorOfNorms = 2;
/// Exponents' errors up to which a weight changes in proportion to them, to within a few hundredths.
constexpr long double kSmallError = 1.0L / 16;

}  // namespace

RegressionErrors::RegressionErrors(const KernelRegression& problem, Draw draw, double factor)
    : problem_(problem), from_norms_(factor > 1) {
  if (problem.type == DataType::uint8) return;
  const Arithmetic arithmetic = arithmetic_of(problem.type);
  const double u = arithmetic.unit_roundoff;
  const auto columns = static_cast<double>(problem.columns);
  const double roundings = columns + kMoreRoundings;
  relative_ = factor * gamma(roundings, u);
  underflow_ = factor * 2 * columns * arithmetic.smallest_normal;
  if (draw == Draw::chosen) return;
  const double by_chance = std::min(factor, kFactorOfNorms) * roundings;
  const double of_terms = std::max(factor - kFactorOfNorms, 0.0);
  const double distances = static_cast<double>(problem.queries) * static_cast<double>(problem.training_rows);
  relative_ = std::min(relative_, gamma_by_chance(by_chance, u, distances) + of_terms * gamma(roundings, u));
  if (draw == Draw::symmetric) spread_ = u * (std::sqrt(by_chance) + of_terms * roundings);
}

long double RegressionErrors::squared_error(const RegressionDistances& distances, std::size_t row) const {
  return relative_ * (from_norms_ ? distances.reach[row] : distances.squared[row]) + underflow_;
}

long double RegressionErrors::squared_spread(const RegressionDistances& distances, std::size_t row) const {
  if (spread_ == 0) return 0;
  return spread_ * (from_norms_ ? distances.spread[row] : distances.squared[row]) + underflow_;
}

bool RegressionErrors::may_replace(const RegressionDistances& distances, std::size_t nearest, std::size_t row) const {
  if (problem_.type == DataType::uint8) return row == nearest;
  if (!std::isfinite(distances.squared[row])) return false;
  return distances.squared[row] - squared_error(distances, row) <=
         distances.squared[nearest] + squared_error(distances, nearest);
}

long double RegressionErrors::exponent(long double squared) const {
  const long double order = problem_.order;
  const long double scale = problem_.scale;
  return problem_.distance == Distance::euclidean ? order * order * scale * std::sqrt(squared) / 2
                                                  : order * order * scale * scale * squared / 2;
}

long double RegressionErrors::exponent_error(long double squared, long double error) const {
  const long double above = exponent(squared + error) - exponent(squared);
  const long double below = exponent(squared) - exponent(std::max<long double>(squared - error, 0));
  return std::max(above, below);
}

/// The errors of distances have nothing to do with each other, but for what the query brings to all of them alike,
/// which changes no value; so their squares are added up. The roundings of exponentials and sums are taken at their
/// worst.
double RegressionErrors::value_spread(const RegressionDistances& distances, std::span<const long double> targets,
                                      double value) const {
  if (spread_ == 0) return 0;
  const Arithmetic arithmetic = arithmetic_of(problem_.result_type());
  const long double unit = arithmetic.unit_roundoff;
  const long double of_sums = 2 * gamma(static_cast<double>(problem_.training_rows) + 4, arithmetic.unit_roundoff);
  const long double lowest = exponent(*std::min_element(distances.squared.begin(), distances.squared.end()));
  long double squares = 0;
  long double others = 0;
  long double sum = 0;
  for (std::size_t t = 0; t < distances.squared.size(); ++t) {
    if (!std::isfinite(distances.squared[t])) continue;
    const long double above = exponent(distances.squared[t]) - lowest;
    const long double weight = std::exp(-above);
    if (weight < arithmetic.smallest_normal) continue;
    const long double error = exponent_error(distances.squared[t], squared_spread(distances, t));
    if (!(error <= kSmallError)) return 0;
    const long double target = targets[t];
    const long double away = weight * std::abs(target - value);
    sum += weight;
    squares += away * error * away * error;
    others += (kOfExponential + kOfArgument * above) * unit * away +
              of_sums * weight * (std::abs(target) + std::abs(value)) + 2 * arithmetic.smallest_normal;
  }
  const auto spread = static_cast<double>((std::sqrt(squares) + others) / sum);
  return std::isfinite(spread) ? spread : 0;
}

}  // namespace tessera::conformance
