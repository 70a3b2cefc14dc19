// Seeded inputs: the generator and the distributions over it.
#include "conformance/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "conformance/in_threads.h"

namespace tessera::conformance {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) noexcept {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  // The seed is mixed too: neighbouring seeds would otherwise give one sequence shifted by a step.
  const auto mix = [](std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  };
  return mix(mix(seed + kGoldenRatio) + (index + 1) * kGoldenRatio);
}

std::uint64_t random_below(std::uint64_t limit, std::uint64_t seed, std::uint64_t index) noexcept {
  return ((random_bits(seed, index) >> 32) * limit) >> 32;
}

double random_even(std::uint64_t seed, std::uint64_t index) noexcept {
  return (static_cast<double>(random_bits(seed, index) >> 11) + 0.5) * 0x1p-53;
}

double random_normal(std::uint64_t angle_seed, std::uint64_t radius_seed, std::uint64_t index) noexcept {
  return std::sqrt(-2 * std::log(random_even(radius_seed, index))) *
         std::cos(2 * std::numbers::pi * random_even(angle_seed, index));
}

namespace {

/// Evenly in [0, 1), exact in T.
template <class T>
T unit_value(std::uint64_t bits) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  return std::ldexp(static_cast<T>(bits >> (64 - kDigits)), -kDigits);
}

template <class T>
T value_of(Values values, std::uint64_t bits) {
  const T unit = unit_value<T>(bits);
  const T symmetric = 2 * unit - 1;
  // The lowest bits: unit_value of float and double takes the highest 24 or 53.
  const int low_bits = static_cast<int>(bits & 0x3f);
  // Half the exponent range, so that the product of two such values stands at its end.
  constexpr int kHalfMinimum = std::numeric_limits<T>::min_exponent / 2;
  constexpr int kHalfMaximum = std::numeric_limits<T>::max_exponent / 2;
  switch (values) {
    case Values::symmetric: return symmetric;
    case Values::positive: return unit;
    case Values::wide: return std::ldexp(symmetric, low_bits % 41 - 20);
    case Values::tiny: return std::ldexp(symmetric, kHalfMinimum - 4);
    case Values::large: return std::ldexp(symmetric, kHalfMaximum - 4);
  }
  return 0;
}

}  // namespace

std::string_view to_string(Values values) noexcept {
  switch (values) {
    case Values::symmetric: return "symmetric";
    case Values::positive: return "positive";
    case Values::wide: return "wide";
    case Values::tiny: return "tiny";
    case Values::large: return "large";
  }
  return "?";
}

template <class T>
void fill_values(std::span<T> out, Values values, std::uint64_t seed) {
  constexpr std::size_t kPiece = 1 << 14;
  in_threads((out.size() + kPiece - 1) / kPiece, static_cast<double>(out.size()), [&](std::size_t piece) {
    const std::size_t last = std::min(out.size(), (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < last; ++i) out[i] = value_of<T>(values, random_bits(seed, i));
  });
}

template void fill_values(std::span<float>, Values, std::uint64_t);
template void fill_values(std::span<double>, Values, std::uint64_t);

}  // namespace tessera::conformance
