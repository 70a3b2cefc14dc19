// What errors may be where inputs are random: roundings then have no common sign, and a sum's error grows with the root
// of its length. Catches what the worst case forgives from some thousand products on, as products of 11 bits. Derived
// in README.md; the same for every operator whose results are sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "conformance/compare.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

/// How the inputs of a case came about.
enum class Draw : std::uint8_t {
  chosen,     ///< with something in mind: only the worst case holds
  one_sided,  ///< at random
  symmetric,  ///< at random, evenly around 0: sums cancel
};
/// Of operands that hold such values, and perhaps a few that were put among them.
[[nodiscard]] Draw draw_of(Values values, bool has_plants) noexcept;

/// A sum with the sizes of what it is a sum of.
struct ExpectedSum : Expected {
  double magnitude = 0;  ///< sum of magnitudes
  double square = 0;     ///< sum of squares
};

/// The factors of a worst-case bound, the same for every sum of a case: error <= relative * magnitude + absolute.
struct SumBound {
  double roundings = 0;  ///< that one term meets on its way into the result
  double relative = 0;
  double absolute = 0;
};

/// What an error factor above 1 stands for.
enum class Excess : std::uint8_t {
  of_terms,   ///< each term is off by (factor - 1) * roundings units more, perhaps all of them in one direction
  roundings,  ///< a result meets the roundings of a sum factor times as long
};

/// In place of gamma(roundings): the most by which roundings without a common sign change a sum relative to its terms'
/// magnitudes, but with a probability of 2^-40 for `sums` such sums together.
[[nodiscard]] double gamma_by_chance(double roundings, double unit_roundoff, double sums);

/// Whether errors are larger together than each of them is likely to be.
class RootMeanSquare {
 public:
  /// Errors from which on their mean square says something.
  static constexpr double kFewest = 256;

  /// `allowed`: the root of what the error's square may be in the mean.
  void add(double error, double allowed);
  /// "", or a sentence. "" too where `independent`, the errors that have nothing to do with each other, are fewer.
  [[nodiscard]] std::string failure(double independent, double fewest = kFewest) const;
  [[nodiscard]] double count() const { return count_; }

 private:
  double count_ = 0;
  double squared_errors_ = 0;
  double squared_allowed_ = 0;
};

/// Compares the sums of a case: each with its bound, and all of them together.
class Chance {
 public:
  /// For so many sums that are looked at together. `sums_in_touch`: over how many sums one cancels and the others with
  /// it, as sums over neighbouring windows do; that many count as one.
  Chance(DataType type, const SumBound& bound, Draw draw, double sums, double error_factor,
         Excess excess = Excess::of_terms, double sums_in_touch = 1);

  /// "", or how `found` differs. `worst`: the sum's worst-case bound for the error factor.
  [[nodiscard]] std::string difference(double found, const ExpectedSum& sum, double worst, Comparison& comparison);
  /// "" or a sentence: whether the root mean square of the errors is too large. Of symmetric inputs and enough sums
  /// alone.
  [[nodiscard]] std::string failure_of_all() const;

 private:
  [[nodiscard]] double bound_of(const ExpectedSum& sum, double worst) const;

  SumBound bound_;
  Draw draw_;
  double error_factor_;
  Excess excess_;
  double sums_in_touch_;
  double relative_ = 0;  // of a sum's bound, without what the factor adds
  double spread_ = 0;    // root mean square of an error, in roots of the sum of squares
  RootMeanSquare all_;
};

}  // namespace tessera::conformance
