// denoise: how voxels become numbers and sums voxels again, on the card. Every operation is the definition's
// (docs/decisions/0019): products and sums are rounded one by one, so all go through the functions here, which nvcc does
// not fuse.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/denoise/denoise_arguments.h"

namespace tessera::cuda {

inline constexpr float kDenoiseWeightUnits = 1 << 20;

[[nodiscard]] __device__ __forceinline__ float times(float a, float b) {
  return __fmul_rn(a, b);
}
[[nodiscard]] __device__ __forceinline__ float plus(float a, float b) {
  return __fadd_rn(a, b);
}
[[nodiscard]] __device__ __forceinline__ float minus(float a, float b) {
  return __fsub_rn(a, b);
}
[[nodiscard]] __device__ __forceinline__ float over(float a, float b) {
  return __fdiv_rn(a, b);
}

[[nodiscard]] __device__ __forceinline__ std::int64_t held_voxels(const DenoiseArguments& d) {
  return d.held[0] * d.held[1] * d.held[2];
}
[[nodiscard]] __device__ __forceinline__ std::int64_t volume_voxels(const DenoiseArguments& d) {
  return d.size[0] * d.size[1] * d.size[2];
}
[[nodiscard]] __device__ __forceinline__ int patch_voxels(const DenoiseArguments& d) {
  return static_cast<int>(d.patch[0] * d.patch[1] * d.patch[2]);
}

[[nodiscard]] __device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}

[[nodiscard]] __device__ __forceinline__ bool is_finite(float number) {
  return (__float_as_uint(number) & 0x7f800000U) != 0x7f800000U;
}

/// That of the scale.
template <class T>
[[nodiscard]] __device__ __forceinline__ int scale_exponent(const DenoiseArguments& d) {
  if constexpr (std::is_same_v<T, float>) {
    const std::uint32_t largest = *d.largest;
    const int exponent = static_cast<int>(largest >> 23) - 126;
    return largest == 0 ? 0 : min(max(exponent, kDenoiseLeastExponent), kDenoiseMostExponent);
  } else {
    return 8 * static_cast<int>(sizeof(T));
  }
}

/// What a step multiplies with, all in one table: matrices of x, y and z, the window, and of each exponent and channel
/// the threshold and the variance.
[[nodiscard]] __device__ __forceinline__ const float* matrix_of(const DenoiseArguments& d, int axis) {
  const float* matrix = d.table;
  for (int before = 0; before < axis; ++before) matrix += d.patch[before] * d.patch[before];
  return matrix;
}
[[nodiscard]] __device__ __forceinline__ const float* window_of(const DenoiseArguments& d) {
  return matrix_of(d, 3);
}
[[nodiscard]] __device__ __forceinline__ const float* scales_of(const DenoiseArguments& d, int exponent) {
  return window_of(d) + patch_voxels(d) + 2 * ((exponent - kDenoiseLeastExponent) * d.channels + d.channel);
}

/// A voxel of one colour, scaled; of a volume that is not finite there, the basic estimate's.
template <class T>
[[nodiscard]] __device__ __forceinline__ float scaled_colour(const T* from, const T* instead, bool has_instead,
                                                             std::int64_t at, float scale) {
  T voxel = from[at];
  if constexpr (std::is_same_v<T, float>) {
    if (has_instead && !is_finite(voxel)) voxel = instead[at];
  }
  return times(static_cast<float>(voxel), scale);
}

/// The number that is filtered in the step's channel.
template <class T>
[[nodiscard]] __device__ __forceinline__ float number_at(const DenoiseArguments& d, const T* from, const T* instead,
                                                         bool has_instead, std::int64_t at, float scale) {
  const float red = scaled_colour(from, instead, has_instead, at, scale);
  if (d.channels == 1) return red;
  const std::int64_t voxels = volume_voxels(d);
  const float green = scaled_colour(from, instead, has_instead, at + voxels, scale);
  const float blue = scaled_colour(from, instead, has_instead, at + 2 * voxels, scale);
  if (d.channel == 0) return times(plus(plus(red, green), blue), 1.0F / 3.0F);
  if (d.channel == 1) return times(minus(red, blue), 0.5F);
  return times(plus(minus(red, green), minus(blue, green)), 0.25F);
}

/// Of two neighbours along a stack: their sum in the place of the first, their difference in that of the second.
__device__ __forceinline__ void haar_pair(float& first, float& second) {
  constexpr float kHalf = 0.70710678118654752440F;
  const float sum = times(plus(first, second), kHalf);
  second = times(minus(first, second), kHalf);
  first = sum;
}

/// Of a stack that holds so many patches: the largest power of two.
[[nodiscard]] __device__ __forceinline__ int filtered_members(int count) {
  return count > 0 ? 1 << (31 - __clz(count)) : 0;
}

/// A factor's square as a whole number.
[[nodiscard]] __device__ __forceinline__ int factor_units(float factor) {
  return __float2int_rn(times(times(factor, factor), kDenoiseWeightUnits));
}
/// The weight of a stack that keeps so much, in units of this.
[[nodiscard]] __device__ __forceinline__ float stack_weight(std::int64_t energy, float unit) {
  return over(1.0F, fmaxf(times(__ll2float_rn(energy), unit), 1.0F));
}
/// A voxel's weight and its estimate as whole numbers.
[[nodiscard]] __device__ __forceinline__ int weight_units(float stack, float window) {
  return max(__float2int_rn(times(times(stack, window), kDenoiseWeightUnits)), 1);
}
[[nodiscard]] __device__ __forceinline__ int estimate_units(const DenoiseArguments& d, float estimate) {
  return __float2int_rn(fminf(fmaxf(times(estimate, d.units), -d.most_units), d.most_units));
}

/// Where a voxel stands along each axis.
struct DenoisePlace {
  std::int64_t x;
  std::int64_t y;
  std::int64_t z;
};
[[nodiscard]] __device__ __forceinline__ DenoisePlace place_of(const DenoiseArguments& d, std::int64_t index) {
  const std::int64_t row = index / d.size[0];
  const std::int64_t z = row / d.size[1];
  return {index - row * d.size[0], row - z * d.size[1], z};
}

/// Where a slice stands in the ring.
[[nodiscard]] __device__ __forceinline__ std::int64_t in_ring(const DenoiseArguments& d, std::int64_t slice) {
  const std::int64_t ring = d.axis == 2 ? d.held[2] : d.held[1];
  return slice < ring ? slice : slice % ring;
}
/// Where a voxel's sums stand, in pairs.
[[nodiscard]] __device__ __forceinline__ std::int64_t held_index(const DenoiseArguments& d, const DenoisePlace& at) {
  const std::int64_t row = d.axis == 2 ? in_ring(d, at.z) * d.held[1] + at.y : at.z * d.held[1] + in_ring(d, at.y);
  return row * d.held[0] + at.x;
}

/// Whole numbers: any thread may add at any time.
__device__ __forceinline__ void add_to_sum(std::uint64_t* sum, std::int64_t number) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(number));
}

[[nodiscard]] __device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace tessera::cuda

/// Calls KERNEL(Voxel, name) for all types of voxels.
#define TESSERA_DENOISE_TYPES(KERNEL) \
  KERNEL(std::uint8_t, uint8)         \
  KERNEL(std::uint16_t, uint16)       \
  KERNEL(float, float32)
