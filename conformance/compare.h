// Compares results with what an oracle says, element by element, each with its own bound, and keeps the worst of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "conformance/exact_sum.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

/// What an oracle says of one element.
struct Expected {
  Exact value;
  double bound = 0;  ///< absolute: the most that a correct result may be away from `value`
};

/// The numbers of a type that bounds are derived from.
struct Arithmetic {
  double unit_roundoff = 0;    ///< 2^-24, 2^-53
  double smallest_normal = 0;  ///< the most that one operation loses where subnormal numbers are flushed to 0
  double overflow = 0;         ///< numbers of this size or more are rounded to infinity
};
[[nodiscard]] Arithmetic arithmetic_of(DataType type);

/// gamma(n) = n * u / (1 - n * u): the most by which n roundings one after the other change a number, relatively.
[[nodiscard]] double gamma(double roundings, double unit_roundoff);

/// The rounding of a bound that is itself computed in double as a sum of `terms` products: a factor just above 1.
[[nodiscard]] double bound_rounding(double terms);

/// Collects the verdict over one result.
class Comparison {
 public:
  explicit Comparison(DataType type) : overflow_(arithmetic_of(type).overflow) {}

  /// Is this element right? A NaN where a NaN is expected and nowhere else; an infinity where that infinity is
  /// expected, or where the bound allows for overflow; anything else within the bound. False: describe it with fail().
  [[nodiscard]] bool accepts(double found, const Expected& expected) {
    if (std::isfinite(found) && std::isfinite(expected.value.high)) {
      const double error = distance(found, expected.value);
      keep_worst(error, expected.bound);
      // An infinite bound would let everything pass.
      return error <= expected.bound && std::isfinite(expected.bound);
    }
    return accepts_special(found, expected);
  }
  /// Takes an element into Outcome::rms_error and rms_value.
  void add_to_rms(double found, const Expected& expected) {
    if (!std::isfinite(found) || !std::isfinite(expected.value.high)) return;
    const double error = distance(found, expected.value);
    squared_errors_ += error * error;
    squared_values_ += expected.value.high * expected.value.high;
    count_ += 1;
  }
  /// Keeps the first failure.
  void fail(std::string sentence);
  [[nodiscard]] bool failed() const { return failures_ != 0; }
  [[nodiscard]] Outcome outcome() const;

 private:
  [[nodiscard]] bool accepts_special(double found, const Expected& expected) const;
  void keep_worst(double error, double bound);

  double overflow_;
  double worst_share_ = -1;  // error / bound
  double worst_error_ = 0;
  double worst_bound_ = 0;
  double squared_errors_ = 0;
  double squared_values_ = 0;
  double count_ = 0;
  std::int64_t failures_ = 0;
  std::string first_failure_;
};

/// "expected 1.5, found nan, which is ..." for failure sentences, with every digit that matters.
[[nodiscard]] std::string describe_difference(double found, const Expected& expected);

}  // namespace tessera::conformance
