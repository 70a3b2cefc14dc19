// What errors may be where inputs are random.
#include "conformance/gemm/gemm_chance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::conformance {

namespace {

/// Elements from which on the mean square of their errors says something.
constexpr double kFewestErrors = 256;

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

GemmChance::GemmChance(const Gemm& problem, const GemmBound& bound, GemmDraw draw, double elements, double error_factor)
    : bound_(bound),
      draw_(draw),
      error_factor_(error_factor),
      unit_roundoff_(arithmetic_of(problem.type).unit_roundoff) {
  const double n = std::max(bound.roundings, 1.0);
  // A correct result fails with a probability of at most 2^-40, all its elements together.
  const double lambda = std::sqrt(2 * std::log(2 * n * std::max(elements, 1.0) * std::ldexp(1.0, 40)));
  const double u = unit_roundoff_;
  relative_ = std::expm1((lambda * std::sqrt(n) * u + n * u * u) / (1 - u)) * bound_rounding(n);
}

double GemmChance::bound_of(const GemmExpected& element) const {
  const double worst = element.bound * error_factor_;
  if (draw_ == GemmDraw::chosen) return worst;
  const double by_chance = (relative_ + (error_factor_ - 1) * bound_.relative) * element.magnitude;
  return std::min(worst, by_chance + error_factor_ * bound_.absolute);
}

void GemmChance::add(double error, const GemmExpected& element) {
  elements_ += 1;
  squared_errors_ += error * error;
  squares_ += element.square;
}

std::string GemmChance::failure_of_all() const {
  if (draw_ != GemmDraw::symmetric || elements_ < kFewestErrors) return "";
  const double n = bound_.roundings;
  const double found = std::sqrt(squared_errors_ / elements_);
  const double limit =
      unit_roundoff_ * (std::sqrt(n) + (error_factor_ - 1) * n) * std::sqrt(squares_ / elements_) + bound_.absolute;
  if (found <= limit) return "";
  return "the errors of " + std::to_string(static_cast<long>(elements_)) + " elements have a root mean square of " +
         short_number(found) + ", but must have at most " + short_number(limit);
}

}  // namespace tessera::conformance
