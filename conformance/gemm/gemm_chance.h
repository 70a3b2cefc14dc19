// What errors may be where inputs are random: roundings then have no common sign, and a sum's error grows with the root
// of its length. Catches what the worst case forgives from some thousand products on, as products of 11 bits. Derived
// in README.md.
#pragma once

#include <string>

#include "conformance/gemm/gemm_oracle.h"

namespace tessera::conformance {

/// How the inputs of a case came about.
enum class GemmDraw : std::uint8_t {
  chosen,     ///< with something in mind: only the worst case holds
  one_sided,  ///< at random
  symmetric,  ///< at random, evenly around 0: sums cancel
};

class GemmChance {
 public:
  /// For so many elements that are looked at together.
  GemmChance(const Gemm& problem, const GemmBound& bound, GemmDraw draw, double elements, double error_factor);

  /// The bound of an element, worst case included.
  [[nodiscard]] double bound_of(const GemmExpected& element) const;
  /// Notes the error of an element, for failure_of_all().
  void add(double error, const GemmExpected& element);
  /// "" or a sentence: whether the errors' root mean square is too large. Of symmetric inputs and enough elements
  /// alone.
  [[nodiscard]] std::string failure_of_all() const;

 private:
  GemmBound bound_;
  GemmDraw draw_;
  double error_factor_;
  double unit_roundoff_;
  double relative_ = 0;  // of an element's bound, without what the factor adds
  double elements_ = 0;
  double squared_errors_ = 0;
  double squares_ = 0;
};

}  // namespace tessera::conformance
