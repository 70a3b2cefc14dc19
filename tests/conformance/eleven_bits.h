// What products on tensor cores make of their operands where they are asked for TF32.
#pragma once

#include <cmath>

namespace tessera::conformance {

/// To 11 significant bits.
inline float rounded_to_11_bits(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

/// All 24 of them.
inline float as_it_is(float x) {
  return x;
}

}  // namespace tessera::conformance
