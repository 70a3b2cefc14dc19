// Sums of products with about 106 significant bits: the oracles of floating-point operators add with it, so that their
// own error is far below that of any kernel, for double operands too. Not a fast way; needs IEEE arithmetic in double
// (this folder is compiled with -ffp-contract=off).
#pragma once

#include <cmath>

namespace tessera::conformance {

/// A number as the unevaluated sum of two doubles; `high` is the nearest double. If it is infinite or NaN, `low` is 0.
struct Exact {
  double high = 0;
  double low = 0;
};

/// |found - expected| without cancellation: found - high is exact wherever it matters (found near high).
[[nodiscard]] inline double distance(double found, const Exact& expected) {
  return std::abs((found - expected.high) - expected.low);
}

/// Adds products one after the other. The relative error of n products is below n * 2^-104 of the sum of magnitudes.
class ExactSum {
 public:
  /// Adds x * y.
  void add_product(float x, float y) {
    const double product = static_cast<double>(x) * static_cast<double>(y);  // exact
    plain_ += product;
    add(product, 0);
  }
  void add_product(double x, double y) {
    const double product = x * y;
    plain_ += product;
    add(product, std::fma(x, y, -product));
  }
  /// Adds factor * value.
  void add_product(double factor, const Exact& value) {
    add_product(factor, value.high);
    add(factor * value.low, 0);
  }
  [[nodiscard]] Exact value() const {
    // Past an infinity or a NaN the compensated pair is meaningless, and the plain sum is what IEEE arithmetic says.
    if (!std::isfinite(plain_)) return {plain_, 0};
    return {high_, low_};
  }

 private:
  /// Adds value + rest, where rest is far smaller than value.
  void add(double value, double rest) {
    const double sum = high_ + value;
    const double part = sum - high_;
    const double lost = (high_ - (sum - part)) + (value - part);
    const double tail = lost + low_ + rest;
    high_ = sum + tail;
    low_ = tail - (high_ - sum);
  }

  double high_ = 0;
  double low_ = 0;
  double plain_ = 0;
};

}  // namespace tessera::conformance
