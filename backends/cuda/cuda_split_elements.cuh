// Splits elements of float32 for products by fp16 tensor cores: the power of two by which a row is multiplied, and an
// element as two of fp16. How split rows lie: cuda_split_shape.h.
#pragma once

#include <cuda_fp16.h>

namespace tessera::cuda {

inline constexpr unsigned kInfinityBits = 0x7f800000;

/// 2^exponent, of a normal number.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __int_as_float((exponent + 127) << 23);
}

/// Of the number with these bits, which is positive and finite, the exponent of its highest digit.
__device__ __forceinline__ int exponent_of_bits(unsigned bits) {
  return bits >= 0x00800000u ? static_cast<int>(bits >> 23) - 127 : -118 - __clz(static_cast<int>(bits));
}

/// The power that brings a row with this largest element to [2^14, 2^15): fp16 goes up to 65504.
__device__ __forceinline__ int shift_of_largest(unsigned bits) {
  return bits == 0 || bits >= kInfinityBits ? 0 : 14 - exponent_of_bits(bits);
}

/// x = rounded + rest of each of two elements, but for the last bits of a small one.
__device__ __forceinline__ void split_pair(float first, float second, __half2& rounded, __half2& rest) {
  rounded = __floats2half2_rn(first, second);
  const float2 back = __half22float2(rounded);
  rest = __floats2half2_rn(first - back.x, second - back.y);
}

}  // namespace tessera::cuda
