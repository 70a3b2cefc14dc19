// Element-wise comparison against an oracle, and the arithmetic that bounds are made of.
#include "conformance/compare.h"

#include <cstdio>
#include <limits>
#include <utility>

namespace tessera::conformance {

namespace {

template <class T>
Arithmetic arithmetic() {
  using Limits = std::numeric_limits<T>;
  // Largest number plus half of its last place: from there on, rounding to nearest gives infinity. In double the sum
  // rounds to infinity itself, and then only an infinite expectation is accepted as such.
  const double largest = static_cast<double>(Limits::max());
  const double half_place = std::ldexp(1.0, Limits::max_exponent - Limits::digits - 1);
  return {.unit_roundoff = std::ldexp(1.0, -Limits::digits),
          .smallest_normal = static_cast<double>(Limits::min()),
          .overflow = largest + half_place};
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

Arithmetic arithmetic_of(DataType type) {
  switch (type) {
    case DataType::float32: return arithmetic<float>();
    case DataType::float64: return arithmetic<double>();
    default: return {.unit_roundoff = 0, .smallest_normal = 0, .overflow = std::numeric_limits<double>::infinity()};
  }
}

double gamma(double roundings, double unit_roundoff) {
  const double lost = roundings * unit_roundoff;
  // Past that length the bound says nothing about any result; infinity makes that visible in a report.
  if (lost >= 1) return std::numeric_limits<double>::infinity();
  return lost / (1 - lost);
}

double bound_rounding(double terms) {
  return 1 + (terms + 8) * std::numeric_limits<double>::epsilon();
}

bool Comparison::accepts_special(double found, const Expected& expected) const {
  const double value = expected.value.high;
  if (std::isnan(found) || std::isnan(value)) return std::isnan(found) && std::isnan(value);
  if (std::isinf(value)) return found == value;
  return std::signbit(found) == std::signbit(value) && std::abs(value) + expected.bound >= overflow_;
}

void Comparison::keep_worst(double error, double bound) {
  const double share = error == 0 ? 0 : error / bound;  // infinite where the bound is 0: nothing is worse
  if (share <= worst_share_) return;
  worst_share_ = share;
  worst_error_ = error;
  worst_bound_ = bound;
}

void Comparison::fail(std::string sentence) {
  if (failures_++ == 0) first_failure_ = std::move(sentence);
}

Outcome Comparison::outcome() const {
  Outcome outcome{
      .passed = failures_ == 0, .worst_error = worst_error_, .bound = worst_bound_, .failure = first_failure_};
  if (count_ > 0) {
    outcome.rms_error = std::sqrt(squared_errors_ / count_);
    outcome.rms_value = std::sqrt(squared_values_ / count_);
  }
  if (failures_ > 1) outcome.failure += " (and " + std::to_string(failures_ - 1) + " more)";
  return outcome;
}

std::string describe_difference(double found, const Expected& expected) {
  std::string text = "is " + number(found) + ", but must be " + number(expected.value.high);
  if (std::isfinite(found) && std::isfinite(expected.value.high)) {
    text += " within " + number(expected.bound) + ": it is off by " + number(distance(found, expected.value));
  }
  return text;
}

}  // namespace tessera::conformance
