// denoise, columns: patches from the region's voxels, and what is done with one voxel's members of a stack, in
// registers. See denoise_columns.cu.
#pragma once

#include "ops/denoise/denoise_columns_transform.cuh"

namespace tessera::cuda {

/// Four voxels of a row, scaled. Bytes may begin at any of a word; a byte behind the exponent of 2^23 is a float, and
/// what is taken away again and the scale are powers of two: the fused operation is exact.
template <class T>
__device__ __forceinline__ void load_row(const T* voxels, int at, float scale, float* row) {
  if constexpr (sizeof(T) == 1) {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(voxels + (at & ~3));
    const std::uint32_t four = __funnelshift_r(words[0], words[1], 8 * (at & 3));
    const float base = times(-8388608.0F, scale);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      row[i] = __fmaf_rn(__uint_as_float(__byte_perm(four, 0x4b000000U, 0x7440U + i)), scale, base);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) row[i] = times(static_cast<float>(voxels[at + i]), scale);
  }
}

/// A patch whose first voxel is the region's `first`, or zeros where none is there; whole: voxels of the region's ring.
template <class T>
__device__ __forceinline__ void load_cube(const T* voxels, int first, int row, int slice, int whole, bool is_there,
                                          float scale, float (&patch)[kCubeVoxels]) {
  const float or_0 = is_there ? scale : 0.0F;
#pragma unroll
  for (int z = 0; z < 4; ++z) {
    int at = first + z * slice;
    if (at >= whole) at -= whole;
#pragma unroll
    for (int y = 0; y < 4; ++y) load_row(voxels, at + y * row, or_0, patch + 16 * z + 4 * y);
  }
  if constexpr (std::is_same_v<T, float>) {  // what stands there may not be finite
#pragma unroll
    for (int v = 0; v < kCubeVoxels; ++v) patch[v] = is_there ? patch[v] : 0.0F;
  }
}

template <int kPlaces, int kDistance>
__device__ __forceinline__ void haar_level(float (&numbers)[kPlaces], int members) {
  if constexpr (kDistance < kPlaces) {
    if (kDistance >= members) return;
#pragma unroll
    for (int i = 0; i < kPlaces; i += 2 * kDistance) haar_pair(numbers[i], numbers[i + kDistance]);
  }
}
template <int kPlaces>
__device__ __forceinline__ void haar(float (&numbers)[kPlaces], int members) {
  haar_level<kPlaces, 1>(numbers, members);
  haar_level<kPlaces, 2>(numbers, members);
  haar_level<kPlaces, 4>(numbers, members);
  haar_level<kPlaces, 8>(numbers, members);
  haar_level<kPlaces, 16>(numbers, members);
}
template <int kPlaces>
__device__ __forceinline__ void haar_back(float (&numbers)[kPlaces], int members) {
  haar_level<kPlaces, 16>(numbers, members);
  haar_level<kPlaces, 8>(numbers, members);
  haar_level<kPlaces, 4>(numbers, members);
  haar_level<kPlaces, 2>(numbers, members);
  haar_level<kPlaces, 1>(numbers, members);
}

/// Keeps coefficients above the threshold; how many of them. Those behind the last member are 0 and are not kept.
template <int kPlaces>
[[nodiscard]] __device__ __forceinline__ std::uint32_t keep_large(float (&numbers)[kPlaces], float threshold) {
  std::uint32_t kept = 0;
#pragma unroll
  for (int m = 0; m < kPlaces; ++m) {
    const bool is_kept = fabsf(numbers[m]) > threshold;
    numbers[m] = is_kept ? numbers[m] : 0.0F;
    kept += is_kept ? 1 : 0;
  }
  return kept;
}

/// a / b rounded as IEEE says, where a is 0 or from 2^-90 to b, and b from 2^-60 to 2^64: what the compiler makes of a
/// division, but for the question whether numbers are such, which each division asks by itself and waits for.
[[nodiscard]] __device__ __forceinline__ float usual_ratio(float a, float b) {
  float inverse = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = __fmaf_rn(inverse, __fmaf_rn(-b, inverse, 1.0F), inverse);
  const float ratio = times(a, inverse);
  return __fmaf_rn(inverse, __fmaf_rn(-b, ratio, a), ratio);
}

/// Of any numbers: out of the way, as it is seldom needed.
__device__ __noinline__ inline void divide(float* numbers, int count, float variance) {
#pragma unroll 1
  for (int m = 0; m < count; ++m) numbers[m] = over(numbers[m], plus(numbers[m], variance));
}

/// Coefficients of the basic estimate become factors; their squares as whole numbers, together. Those behind the last
/// member are 0.
template <int kPlaces>
[[nodiscard]] __device__ __forceinline__ std::uint32_t wiener_factors(float (&numbers)[kPlaces], float variance) {
  // Of bits less 1 that of 0 is the largest.
  std::uint32_t least = variance >= 0x1p-60F && variance <= 0x1p60F ? 0xffffffffU : 0;
#pragma unroll
  for (int m = 0; m < kPlaces; ++m) {
    numbers[m] = times(numbers[m], numbers[m]);
    least = min(least, __float_as_uint(numbers[m]) - 1);
  }
  constexpr std::uint32_t kLeastBits = (127U - 90U) << 23;
  if (least >= kLeastBits - 1) {
#pragma unroll
    for (int m = 0; m < kPlaces; ++m) numbers[m] = usual_ratio(numbers[m], plus(numbers[m], variance));
  } else {
    float divided[kPlaces];
#pragma unroll
    for (int m = 0; m < kPlaces; ++m) divided[m] = numbers[m];
    divide(divided, kPlaces, variance);
#pragma unroll
    for (int m = 0; m < kPlaces; ++m) numbers[m] = divided[m];
  }
  std::uint32_t energy = 0;
#pragma unroll
  for (int m = 0; m < kPlaces; ++m) energy += factor_units(numbers[m]);
  return energy;
}

/// One instruction, where the compiler makes three of numbers that it has made 64 bits long before.
[[nodiscard]] __device__ __forceinline__ std::int64_t product(int a, int b) {
  std::int64_t number = 0;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(number) : "r"(a), "r"(b));
  return number;
}
[[nodiscard]] __device__ __forceinline__ std::uint32_t lower_half(std::int64_t number) {
  return static_cast<std::uint32_t>(number);
}

[[nodiscard]] __device__ __forceinline__ std::uint32_t sum_of_warp(std::uint32_t number) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) number += __shfl_xor_sync(0xffffffffU, number, apart);
  return number;
}

}  // namespace tessera::cuda
