// What roundings do to the distances and weights of a kernel_regression: at most, by chance, and in the mean. Derived
// in README.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "conformance/chance.h"

namespace tessera::conformance {

/// What one query's results are made of, for each training row.
struct RegressionDistances {
  std::vector<long double> squared;  ///< D; infinite where the row has no part
  std::vector<long double> reach;    ///< (|query - centre| + |row - centre|)^2, what a product of centred rows errs by
  /// Of rows drawn evenly around 0, what it errs by in the root mean square; infinite where the row has no part.
  std::vector<long double> spread;
};

/// Of a kernel of one error factor, for operands that came about by `draw`.
class RegressionErrors {
 public:
  RegressionErrors(const KernelRegression& problem, Draw draw, double factor);

  /// The most by which D of a row is off, and the root mean square, 0 where nothing is known of it.
  [[nodiscard]] long double squared_error(const RegressionDistances& distances, std::size_t row) const;
  [[nodiscard]] long double squared_spread(const RegressionDistances& distances, std::size_t row) const;
  /// May a row be found no further than the nearest?
  [[nodiscard]] bool may_replace(const RegressionDistances& distances, std::size_t nearest, std::size_t row) const;
  /// The exponent a, and by how much it is off where D is off by `error`.
  [[nodiscard]] long double exponent(long double squared) const;
  [[nodiscard]] long double exponent_error(long double squared, long double error) const;
  /// Root mean square of the error of a value that is made of `targets`, one for each row. 0: not known.
  [[nodiscard]] double value_spread(const RegressionDistances& distances, std::span<const long double> targets,
                                    double value) const;

  /// Roundings of an exponential, in units of the last place, and of its argument's product with log2(e).
  static constexpr double kOfExponential = 8;
  static constexpr double kOfArgument = 3;

 private:
  KernelRegression problem_;
  bool from_norms_;       // D is computed from a product of centred rows, not from differences
  double relative_ = 0;   // of D's error
  double spread_ = 0;     // in place of it, for the root mean square; 0: not known
  double underflow_ = 0;  // of either
};

}  // namespace tessera::conformance
