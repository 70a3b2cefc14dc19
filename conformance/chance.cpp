// What errors may be where inputs are random.
#include "conformance/chance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::conformance {

namespace {

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

Draw draw_of(Values values, bool has_plants) noexcept {
  if (has_plants) return Draw::chosen;
  if (values == Values::symmetric) return Draw::symmetric;
  return values == Values::positive ? Draw::one_sided : Draw::chosen;
}

double gamma_by_chance(double roundings, double unit_roundoff, double sums) {
  const double n = std::max(roundings, 1.0);
  const double u = unit_roundoff;
  const double lambda = std::sqrt(2 * std::log(2 * n * std::max(sums, 1.0) * std::ldexp(1.0, 40)));
  return std::expm1((lambda * std::sqrt(n) * u + n * u * u) / (1 - u)) * bound_rounding(n);
}

void RootMeanSquare::add(double error, double allowed) {
  count_ += 1;
  squared_errors_ += error * error;
  squared_allowed_ += allowed * allowed;
}

std::string RootMeanSquare::failure(double independent, double fewest) const {
  if (independent < fewest) return "";
  const double found = std::sqrt(squared_errors_ / count_);
  const double limit = std::sqrt(squared_allowed_ / count_);
  if (found <= limit) return "";
  return "the errors of " + std::to_string(static_cast<long>(count_)) + " elements have a root mean square of " +
         short_number(found) + ", but must have at most " + short_number(limit);
}

Chance::Chance(DataType type, const SumBound& bound, Draw draw, double sums, double error_factor, Excess excess,
               double sums_in_touch)
    : bound_(bound), draw_(draw), error_factor_(error_factor), excess_(excess), sums_in_touch_(sums_in_touch) {
  const double u = arithmetic_of(type).unit_roundoff;
  const double n = bound.roundings;
  relative_ = gamma_by_chance(n, u, sums);
  spread_ = u * (excess == Excess::roundings ? std::sqrt(error_factor * n) : std::sqrt(n) + (error_factor - 1) * n);
}

double Chance::bound_of(const ExpectedSum& sum, double worst) const {
  if (draw_ == Draw::chosen) return worst;
  // Roundings beyond those of the sum may be of numbers that the sum's own terms say nothing of.
  if (excess_ == Excess::roundings && error_factor_ > 1) return worst;
  const double by_chance = (relative_ + (error_factor_ - 1) * bound_.relative) * sum.magnitude;
  return std::min(worst, by_chance + error_factor_ * bound_.absolute);
}

std::string Chance::difference(double found, const ExpectedSum& sum, double worst, Comparison& comparison) {
  Expected expected = sum;
  expected.bound = bound_of(sum, worst);
  comparison.add_to_rms(found, expected);
  all_.add(distance(found, expected.value), spread_ * std::sqrt(sum.square) + error_factor_ * bound_.absolute);
  return comparison.accepts(found, expected) ? "" : describe_difference(found, expected);
}

std::string Chance::failure_of_all() const {
  return draw_ == Draw::symmetric ? all_.failure(all_.count() / sums_in_touch_) : "";
}

}  // namespace tessera::conformance
