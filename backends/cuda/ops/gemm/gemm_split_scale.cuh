// Scales sums of split rows back: each row was multiplied by a power of two.
#pragma once

namespace tessera::cuda {

/// 2^exponent, cut to the exponents of normal numbers.
__device__ __forceinline__ float near_power_of_two(int exponent) {
  return __int_as_float((max(-126, min(127, exponent)) + 127) << 23);
}

/// sum * 2^-shift; shifts of two rows together need two factors.
__device__ __forceinline__ float scaled_back(float sum, int shift) {
  const int half = max(-126, min(127, -shift));
  return sum * near_power_of_two(half) * near_power_of_two(-shift - half);
}

}  // namespace tessera::cuda
