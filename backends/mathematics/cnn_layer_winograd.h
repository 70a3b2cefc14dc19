// Winograd's algorithm for cnn_layer: matrices, which problems it takes, and what its results may be off. One place for
// all backends, so that their forms and bounds agree.
//
// F(m x m, r x r) computes a tile of m x m sums from a patch of n x n pixels, n = m + r - 1, with n * n products a
// channel in place of m * m * r * r:
//
//     tile = A^T [ sum over channels of (G w G^T) .* (B^T d B) ] A
//
// A, B and G come from the Toom-Cook construction (Winograd, Arithmetic Complexity of Computations, 1980): polynomials
// are multiplied by their values at n - 1 points and at infinity. They are made here in exact fractions, and that they
// compute a correlation is proven when this is compiled.
//
// Points: 0, 1, -1, 2, -1/2 for n = 6, which lose a third of what 0, 1, -1, 2, -2 lose (Barabasz et al., Error analysis
// and improving the accuracy of Winograd convolution, 2018); 0, 1, -1, 2, -2, 1/2, -1/2 for n = 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/ops/cnn_layer.h>

#include "backend/sentence.h"
#include "backend/variant.h"

namespace tessera::mathematics {

/// An exact number; small enough here for 64 bits.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;  ///< positive, without a common divisor

  constexpr Fraction() = default;
  constexpr Fraction(std::int64_t a, std::int64_t b = 1) : numerator(b < 0 ? -a : a), denominator(b < 0 ? -b : b) {
    std::int64_t x = numerator < 0 ? -numerator : numerator;
    std::int64_t y = denominator;
    while (y != 0) {
      const std::int64_t rest = x % y;
      x = y;
      y = rest;
    }
    numerator /= x;
    denominator /= x;
  }
  [[nodiscard]] constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
  [[nodiscard]] constexpr Fraction magnitude() const { return {numerator < 0 ? -numerator : numerator, denominator}; }
  friend constexpr Fraction operator+(Fraction a, Fraction b) {
    return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
  }
  friend constexpr Fraction operator-(Fraction a, Fraction b) { return a + Fraction(-b.numerator, b.denominator); }
  friend constexpr Fraction operator*(Fraction a, Fraction b) {
    return {a.numerator * b.numerator, a.denominator * b.denominator};
  }
  friend constexpr Fraction operator/(Fraction a, Fraction b) {
    return {a.numerator * b.denominator, a.denominator * b.numerator};
  }
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
    static_assert(kSize == 6 || kSize == 8);
    constexpr std::array<Fraction, 5> kSix{0, 1, -1, 2, Fraction(-1, 2)};
    constexpr std::array<Fraction, 7> kEight{0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2)};
    std::array<Fraction, kSize - 1> points{};
    for (int i = 0; i < kSize - 1; ++i) points[i] = kSize == 6 ? kSix[i % 5] : kEight[i % 7];
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
  }

  /// Does output o take weight k times pixel o + k, and nothing else? For every o and k.
  [[nodiscard]] constexpr bool correlates() const {
    for (int o = 0; o < kOutputs; ++o) {
      for (int k = 0; k < kTaps; ++k) {
        for (int pixel = 0; pixel < kSize; ++pixel) {
          Fraction sum = 0;
          for (int i = 0; i < kSize; ++i) sum = sum + output[o][i] * filter[i][k] * input[i][pixel];
          if (!(sum == Fraction(pixel == o + k))) return false;
        }
      }
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
    for (int o = 0; o < kOutputs; ++o) {
      for (int pixel = 0; pixel < kSize; ++pixel) {
        for (int i = 0; i < kSize; ++i) {
          for (int k = 0; k < kTaps; ++k) {
            grown[o][pixel] = grown[o][pixel] + (output[o][i] * filter[i][k] * input[i][pixel]).magnitude();
          }
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
};

template <int kOutputs, int kTaps>
inline constexpr WinogradMatrices<kOutputs, kTaps> kWinogradMatrices{};

static_assert(kWinogradMatrices<4, 5>.correlates());
static_assert(kWinogradMatrices<2, 5>.correlates());
static_assert(kWinogradMatrices<4, 3>.correlates());

/// Roundings inside of the algorithm over those of the direct sum (see conformance/README.md). Transforms are in the
/// problem's type, that of the weights in double; each of the three is counted with as many roundings as it has terms,
/// in both directions.
///
/// `of_sums`, here and below: roundings of the sums of products over the channels, where these are not added up one by
/// one in the problem's type, which has as many as there are channels.
[[nodiscard]] inline double cnn_layer_winograd_roundings(const CnnLayer& problem, std::int64_t outputs,
                                                         std::optional<double> of_sums = {}) {
  const auto taps = static_cast<double>(problem.filter_height);
  const double size = static_cast<double>(outputs) + taps - 1;
  const auto channels = static_cast<double>(problem.input_channels);
  const double of_weights = problem.type == DataType::float32 ? 2 : 2 * (taps + 1);
  const double inside = 2 * size + of_weights + of_sums.value_or(channels) + 2 * size + 1;
  const double direct = channels * taps * taps + (problem.bias ? 1 : 0);
  // gamma(inside) / gamma(direct) is below inside / direct where inside is smaller; else by far less than 1 % above it.
  return 1.01 * inside / direct;
}

/// The bound of F(outputs x outputs) for this problem as a multiple of strict's, with each pixel as large as the
/// largest of its channel in the tile's patch: what roundings grow by, times how many more there are of them.
[[nodiscard]] inline double cnn_layer_winograd_factor(const CnnLayer& problem, std::int64_t outputs,
                                                      std::optional<double> of_sums = {}) {
  const bool is_three = problem.filter_height == 3;
  const double amplification = is_three       ? kWinogradMatrices<4, 3>.amplification()
                               : outputs == 4 ? kWinogradMatrices<4, 5>.amplification()
                                              : kWinogradMatrices<2, 5>.amplification();
  return amplification * amplification * cnn_layer_winograd_roundings(problem, outputs, of_sums);
}

/// Which outputs of a tile are in doubt, so that they are computed by the direct sum, in the words of
/// api/include/tessera/ops/cnn_layer.h: those that pixels outside of their own window could spoil.
///
/// Let S(p) be the sum over the channels of |pixel| at place p of the patch. If no weight of an output channel is
/// larger than w, the errors of an output are at most (growth() in both directions)
///
///     gamma(inside) * w * E,  E = sum over all places p of growth(o, p) * S(p)
///
/// while w times its own window's pixels have the strict bound gamma(direct) * w * W, W = the sum of S over the window.
/// So the output is within `factor` times the latter if
///
///     E <= limit * W,  limit = factor * gamma(direct) / gamma(inside)
///
/// and else it is in doubt, as it is if E or limit * W is not finite. The factor is the one that accuracy admits, or
/// the tile's own where only Accuracy::fast admits that; then E / W is at most K^2, the amplification in both
/// directions, or more. Where all pixels have one size, E / W is 97 for F(4x4,3x3), 71 for F(2x2,5x5) and 301 for
/// F(4x4,5x5), and 204, 109 and 671 in a corner with as much padding as keeps the image's size, while K^2 is 287, 287
/// and 1565. So it takes a neighbourhood many times heavier than the window to pass the limit. A window of zeros passes
/// it beside any other pixel that its sum could feel, and zeros everywhere never do.
///
/// E and W are computed in the problem's type, from sums over the channels of that type, all of terms of one sign; the
/// limit is smaller by what that may lose.
[[nodiscard]] inline double cnn_layer_winograd_limit(const CnnLayer& problem, std::int64_t outputs,
                                                     std::optional<double> of_sums = {}) {
  const double factor = cnn_layer_winograd_factor(problem, outputs, of_sums);
  const double admitted = factor > CnnLayer::kAccurateFactor ? factor : CnnLayer::kAccurateFactor;
  const double unit_roundoff = problem.type == DataType::float32 ? 0x1p-24 : 0x1p-53;
  const double size = static_cast<double>(outputs + problem.filter_height - 1);
  const double lost = 3 * (static_cast<double>(problem.input_channels) + 4 * size) * unit_roundoff;
  const double kept = lost < 0.5 ? 1 - lost : 0.5;
  return admitted / cnn_layer_winograd_roundings(problem, outputs, of_sums) * kept;
}

/// Whether Winograd's algorithm with tiles of `outputs` x `outputs` sums takes the problem.
[[nodiscard]] inline backend::Verdict cnn_layer_winograd_check(const CnnLayer& problem, std::int64_t outputs,
                                                               std::optional<double> of_sums = {}) {
  const CnnLayer& p = problem;
  const bool is_square = p.filter_height == p.filter_width;
  if (!is_square || (p.filter_height != 5 && !(p.filter_height == 3 && outputs == 4)))
    return backend::Verdict::no(backend::sentence("the filter of cnn_layer is ", p.filter_height, " x ", p.filter_width,
                                                  ", but winograd with tiles of ", outputs, " x ", outputs, " takes ",
                                                  outputs == 4 ? "3 x 3 and 5 x 5" : "5 x 5"));
  if (p.stride != 1)
    return backend::Verdict::no(backend::sentence("stride of cnn_layer is ", p.stride, ", but winograd takes 1"));
  if (p.accuracy == Accuracy::fast) return backend::Verdict::yes();
  const double factor = cnn_layer_winograd_factor(p, outputs, of_sums);
  const double limit = p.accuracy == Accuracy::strict ? 1 : CnnLayer::kAccurateFactor;
  if (factor <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("the error bound of winograd for ", p.input_channels, " input channels is ", factor,
                        " times that of the direct sum, but accuracy ", to_string(p.accuracy), " admits ", limit));
}

/// The sides of the tiles that take the problem, the larger first. Empty if none does.
[[nodiscard]] inline std::vector<std::int64_t> cnn_layer_winograd_tiles(const CnnLayer& problem,
                                                                        std::optional<double> of_sums = {}) {
  std::vector<std::int64_t> sides;
  for (const std::int64_t outputs : {4, 2}) {
    if (cnn_layer_winograd_check(problem, outputs, of_sums)) sides.push_back(outputs);
  }
  return sides;
}

/// Whether Winograd's algorithm takes the problem with any tile; if not, what the most exact one of its filter says.
[[nodiscard]] inline backend::Verdict cnn_layer_winograd_check_any(const CnnLayer& problem,
                                                                   std::optional<double> of_sums = {}) {
  if (!cnn_layer_winograd_tiles(problem, of_sums).empty()) return backend::Verdict::yes();
  return cnn_layer_winograd_check(problem, problem.filter_height == 5 ? 2 : 4, of_sums);
}

}  // namespace tessera::mathematics
