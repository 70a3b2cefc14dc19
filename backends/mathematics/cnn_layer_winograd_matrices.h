// Winograd's algorithm for cnn_layer: its matrices.
//
// A, B and G of F(m, r) come from the Toom-Cook construction (Winograd, Arithmetic Complexity of Computations, 1980):
// polynomials are multiplied by their values at n - 1 points and at infinity, n = m + r - 1. They are made here in
// exact fractions, and that they compute a correlation is proven when this is compiled.
//
// Points: 0, 1, -1, 2, -1/2 for n = 6, which lose a third of what 0, 1, -1, 2, -2 lose (Barabasz et al., Error analysis
// and improving the accuracy of Winograd convolution, 2018); 0, 1, -1, 2, -2, 1/2, -1/2 for n = 8; 0 and both signs of
// 2/5, 4/5, 5/4 and 5/2 for n = 10, of which the amplification is the least among all fractions a / b with a and b up
// to 5. Those would not be exact in float32, so there every row of B^T and column of A^T is multiplied by what makes
// whole numbers of it, over a power of two, and G is divided by that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::mathematics {

/// Of two numbers of which the second is not 0; in few steps, which a compiler counts.
[[nodiscard]] constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  if (a < 0) a = -a;
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// An exact number; small enough here for 64 bits, also on the way to sums and products.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;  ///< positive, without a common divisor

  constexpr Fraction() = default;
  constexpr Fraction(std::int64_t a, std::int64_t b = 1) : numerator(b < 0 ? -a : a), denominator(b < 0 ? -b : b) {
    const std::int64_t divisor = common_divisor(numerator, denominator);
    numerator /= divisor;
    denominator /= divisor;
  }
  [[nodiscard]] constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
  [[nodiscard]] constexpr Fraction magnitude() const { return {numerator < 0 ? -numerator : numerator, denominator}; }
  friend constexpr Fraction operator+(Fraction a, Fraction b) {
    const std::int64_t divisor = common_divisor(a.denominator, b.denominator);
    return {a.numerator * (b.denominator / divisor) + b.numerator * (a.denominator / divisor),
            a.denominator / divisor * b.denominator};
  }
  friend constexpr Fraction operator-(Fraction a, Fraction b) { return a + Fraction(-b.numerator, b.denominator); }
  friend constexpr Fraction operator*(Fraction a, Fraction b) {
    const std::int64_t one = common_divisor(a.numerator, b.denominator);
    const std::int64_t other = common_divisor(b.numerator, a.denominator);
    return {(a.numerator / one) * (b.numerator / other), (a.denominator / other) * (b.denominator / one)};
  }
  friend constexpr Fraction operator/(Fraction a, Fraction b) { return a * Fraction(b.denominator, b.numerator); }
  friend constexpr bool operator==(Fraction a, Fraction b) {
    return a.numerator == b.numerator && a.denominator == b.denominator;
  }
};

/// The matrices of F(kOutputs, kTaps) in one direction.
template <int kOutputs, int kTaps>
struct WinogradMatrices {
  static constexpr int kSize = kOutputs + kTaps - 1;
  using Input = std::array<std::array<Fraction, kSize>, kSize>;
  using Filter = std::array<std::array<Fraction, kTaps>, kSize>;
  using Output = std::array<std::array<Fraction, kSize>, kOutputs>;

  Input input{};    ///< B^T: patch to products
  Filter filter{};  ///< G: weights to products
  Output output{};  ///< A^T: products to tile

  constexpr WinogradMatrices() {
    constexpr std::array<Fraction, kSize - 1> points = finite_points();
    for (int i = 0; i < kSize; ++i) {
      // A polynomial with all points but point i as its zeros; at infinity, with all of them.
      std::array<Fraction, kSize> polynomial{1};
      Fraction scale = 1;
      int degree = 0;
      for (int j = 0; j < kSize - 1; ++j) {
        if (j == i) continue;
        ++degree;
        for (int k = degree; k >= 0; --k) {
          polynomial[k] = (k > 0 ? polynomial[k - 1] : Fraction(0)) - points[j] * polynomial[k];
        }
        if (i < kSize - 1) scale = scale * (points[i] - points[j]);
      }
      input[i] = polynomial;
      Fraction power = 1;
      for (int k = 0; k < kSize; ++k) {
        const bool is_infinite = i == kSize - 1;
        if (k < kTaps) filter[i][k] = is_infinite ? Fraction(k == kTaps - 1) : power / scale;
        if (k < kOutputs) output[k][i] = is_infinite ? Fraction(k == kOutputs - 1) : power;
        if (!is_infinite) power = power * points[i];
      }
    }
    if constexpr (kSize == 10) make_whole_numbers();
  }

  /// Does output o take weight k times pixel o + k, and nothing else? For every k.
  [[nodiscard]] constexpr bool correlates(int o) const {
    for (int k = 0; k < kTaps; ++k) {
      for (int pixel = 0; pixel < kSize; ++pixel) {
        Fraction sum = 0;
        for (int i = 0; i < kSize; ++i) {
          if (input[i][pixel] == 0) continue;
          sum = sum + output[o][i] * filter[i][k] * input[i][pixel];
        }
        if (!(sum == Fraction(pixel == o + k))) return false;
      }
    }
    return true;
  }
  [[nodiscard]] constexpr bool correlates() const {
    for (int o = 0; o < kOutputs; ++o) {
      if (!correlates(o)) return false;
    }
    return true;
  }

  /// The most that roundings inside grow by on their way out, in one direction: the largest sum over i and pixels of
  /// |output(o, i)| |filter(i, k)| |input(i, pixel)|.
  [[nodiscard]] constexpr double amplification() const {
    double largest = 0;
    for (int o = 0; o < kOutputs; ++o) {
      for (int k = 0; k < kTaps; ++k) {
        double sum = 0;
        for (int i = 0; i < kSize; ++i) {
          double pixels = 0;
          for (int pixel = 0; pixel < kSize; ++pixel) pixels += input[i][pixel].magnitude().value();
          sum += output[o][i].magnitude().value() * filter[i][k].magnitude().value() * pixels;
        }
        largest = sum > largest ? sum : largest;
      }
    }
    return largest;
  }

  /// By outputs and pixels of one direction: what the roundings of a pixel's terms grow by on their way to an output,
  /// for weights of one size: the sum over i and k of |output(o, i)| |filter(i, k)| |input(i, pixel)|.
  using Growth = std::array<std::array<Fraction, kSize>, kOutputs>;
  [[nodiscard]] constexpr Growth growth() const {
    Growth grown{};
    for (int i = 0; i < kSize; ++i) {
      Fraction of_weights = 0;
      for (int k = 0; k < kTaps; ++k) of_weights = of_weights + filter[i][k].magnitude();
      for (int o = 0; o < kOutputs; ++o) {
        for (int pixel = 0; pixel < kSize; ++pixel) {
          if (input[i][pixel] == 0) continue;
          grown[o][pixel] = grown[o][pixel] + (output[o][i] * input[i][pixel]).magnitude() * of_weights;
        }
      }
    }
    return grown;
  }
  /// By outputs and pixels: 1 where the pixel lies in the output's window.
  [[nodiscard]] static constexpr Growth windows() {
    Growth inside{};
    for (int o = 0; o < kOutputs; ++o) {
      for (int pixel = 0; pixel < kSize; ++pixel) inside[o][pixel] = Fraction(pixel >= o && pixel < o + kTaps);
    }
    return inside;
  }

 private:
  [[nodiscard]] static constexpr std::array<Fraction, kSize - 1> finite_points() {
    static_assert(kSize == 6 || kSize == 8 || kSize == 10);
    if constexpr (kSize == 6) return {0, 1, -1, 2, Fraction(-1, 2)};
    if constexpr (kSize == 8) return {0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2)};
    if constexpr (kSize == 10) {
      const Fraction a(2, 5), b(4, 5), c(5, 4), d(5, 2);
      return {0, a, Fraction(-2, 5), b, Fraction(-4, 5), c, Fraction(-5, 4), d, Fraction(-5, 2)};
    }
  }

  /// What makes whole numbers of these, divided by the power of two that brings the sum of their magnitudes to at most
  /// `most` and more than half of it.
  template <std::size_t kCount>
  [[nodiscard]] static constexpr Fraction whole_number_factor(const std::array<Fraction, kCount>& numbers,
                                                              double most) {
    std::int64_t multiple = 1;
    double sum = 0;
    for (const Fraction& number : numbers) {
      multiple *= number.denominator / common_divisor(multiple, number.denominator);
    }
    for (const Fraction& number : numbers) sum += (number * multiple).magnitude().value();
    Fraction power = 1;
    while (sum * power.value() > most) power = power * Fraction(1, 2);
    while (2 * sum * power.value() <= most) power = power * 2;
    return power * multiple;
  }

  /// Rows of B^T come to sums alike, which is what fp16 wants, and not far below those of n = 8, so that small pixels
  /// keep their bits.
  constexpr void make_whole_numbers() {
    for (int i = 0; i < kSize; ++i) {
      std::array<Fraction, kOutputs> column{};
      for (int k = 0; k < kOutputs; ++k) column[k] = output[k][i];
      const Fraction of_input = whole_number_factor(input[i], 16);
      const Fraction of_output = whole_number_factor(column, 1);
      for (Fraction& number : input[i]) number = number * of_input;
      for (int k = 0; k < kOutputs; ++k) output[k][i] = output[k][i] * of_output;
      for (Fraction& number : filter[i]) number = number / of_input / of_output;
    }
  }
};

template <int kOutputs, int kTaps>
inline constexpr WinogradMatrices<kOutputs, kTaps> kWinogradMatrices{};

static_assert(kWinogradMatrices<4, 5>.correlates());
static_assert(kWinogradMatrices<2, 5>.correlates());
static_assert(kWinogradMatrices<4, 3>.correlates());
// A compiler counts the steps of each.
static_assert(kWinogradMatrices<6, 5>.correlates(0));
static_assert(kWinogradMatrices<6, 5>.correlates(1));
static_assert(kWinogradMatrices<6, 5>.correlates(2));
static_assert(kWinogradMatrices<6, 5>.correlates(3));
static_assert(kWinogradMatrices<6, 5>.correlates(4));
static_assert(kWinogradMatrices<6, 5>.correlates(5));

}  // namespace tessera::mathematics
