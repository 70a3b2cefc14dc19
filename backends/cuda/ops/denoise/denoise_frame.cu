// denoise: what stands around the stacks of a step, the same for every variant. One thread a voxel, but for "largest".
//
//   begin     the largest magnitude is 0
//   largest   threads in strides over the volume, and the basic estimate; a warp's maximum, then the card's
//   mean      of red, green and blue, in the voxels' own type: what is matched
//   clear     sums of the slices that a round reaches first
//   finish    sums of the slices that get no more: quotients, colours, voxels
#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// Of floats: whole numbers know theirs.
__device__ __forceinline__ void find_largest(const DenoiseArguments& d) {
  const auto* const volume = static_cast<const float*>(d.volume);
  const auto* const basic = static_cast<const float*>(d.basic);
  const std::int64_t count = volume_voxels(d) * d.channels;
  std::uint32_t found = 0;
  for (std::int64_t i = thread_number(); i < count; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    if (is_finite(volume[i])) found = max(found, __float_as_uint(fabsf(volume[i])));
    if (d.has_basic != 0 && is_finite(basic[i])) found = max(found, __float_as_uint(fabsf(basic[i])));
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) found = max(found, __shfl_xor_sync(0xffffffffU, found, apart));
  if (threadIdx.x % 32 == 0) atomicMax(d.largest, found);
}

template <class T>
__device__ __forceinline__ void find_mean(const DenoiseArguments& d) {
  const std::int64_t voxels = volume_voxels(d);
  const std::int64_t i = thread_number();
  if (i >= voxels) return;
  const T* const from = static_cast<const T*>(d.source) + i;
  T* const to = static_cast<T*>(d.mean) + i;
  if constexpr (std::is_same_v<T, float>) {
    *to = times(plus(plus(from[0], from[voxels]), from[2 * voxels]), 1.0F / 3.0F);
  } else {
    *to = static_cast<T>((std::uint32_t{from[0]} + from[voxels] + from[2 * voxels] + 1) / 3);
  }
}

/// The thread's voxel, in slices first_slice to end_slice, and its slice; behind the last if it has none.
__device__ __forceinline__ DenoisePlace voxel_of_thread(const DenoiseArguments& d, std::int64_t& slice) {
  const std::int64_t across = d.axis == 2 ? d.size[1] : d.size[2];
  const std::int64_t item = thread_number();
  const std::int64_t row = item / d.size[0];
  const std::int64_t number = row / across;
  slice = d.first_slice + number;
  const std::int64_t x = item - row * d.size[0];
  if (d.axis == 2) return {x, row - number * across, slice};
  return {x, slice, row - number * across};
}

__device__ __forceinline__ void clear_sums(const DenoiseArguments& d) {
  std::int64_t slice = 0;
  const DenoisePlace at = voxel_of_thread(d, slice);
  if (slice >= d.end_slice) return;
  std::uint64_t* sums = d.sums + 2 * held_index(d, at);
  for (std::int64_t channel = 0; channel < d.channels; ++channel, sums += 2 * held_voxels(d)) {
    sums[0] = 0;
    sums[1] = 0;
  }
}

/// a / b to the nearest whole number, halves up; b is above 0.
__device__ __forceinline__ std::int64_t nearest_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t numerator = 2 * a + b;
  return numerator >= 0 ? numerator / (2 * b) : -((-numerator + 2 * b - 1) / (2 * b));
}

template <class T>
__device__ __forceinline__ T voxel_of_units(const DenoiseArguments& d, std::int64_t units, int exponent) {
  if constexpr (std::is_same_v<T, float>) {
    return times(__ll2float_rn(units), power_of_two(exponent - d.fraction_bits));
  } else {
    const int shift = d.fraction_bits - exponent;
    const std::int64_t nearest = (units + (std::int64_t{1} << (shift - 1))) >> shift;
    constexpr std::int64_t kMost = (std::int64_t{1} << (8 * sizeof(T))) - 1;
    return static_cast<T>(nearest < 0 ? 0 : nearest > kMost ? kMost : nearest);
  }
}

template <class T>
__device__ __forceinline__ void finish_voxels(const DenoiseArguments& d) {
  std::int64_t slice = 0;
  const DenoisePlace at = voxel_of_thread(d, slice);
  if (slice >= d.end_slice) return;
  const std::int64_t voxels = volume_voxels(d);
  const std::int64_t held = held_voxels(d);
  const std::int64_t voxel = (at.z * d.size[1] + at.y) * d.size[0] + at.x;
  const T* const volume = static_cast<const T*>(d.volume) + voxel;
  const T* const basic = static_cast<const T*>(d.basic) + voxel;
  T* const result = static_cast<T*>(d.result) + voxel;
  const std::uint64_t* const sums = d.sums + 2 * held_index(d, at);
  if (slice >= d.end_of_sums || sums[1] == 0) {
    for (std::int64_t i = 0; i < d.channels * voxels; i += voxels) {
      bool has_estimate = true;
      if constexpr (std::is_same_v<T, float>) has_estimate = is_finite(volume[i]) && is_finite(basic[i]);
      result[i] = has_estimate ? basic[i] : volume[i];
    }
    return;
  }
  std::int64_t units[3] = {0, 0, 0};
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    if (channel >= d.channels) continue;
    const std::uint64_t* const of_channel = sums + 2 * channel * held;
    units[channel] =
        nearest_quotient(static_cast<std::int64_t>(of_channel[0]), static_cast<std::int64_t>(of_channel[1]));
  }
  if (d.channels == 3) {
    const std::int64_t mean = 3 * units[0];
    const std::int64_t apart = 3 * units[1];
    const std::int64_t bend = 2 * units[2];
    units[0] = nearest_quotient(mean + apart + bend, 3);
    units[1] = nearest_quotient(mean - 2 * bend, 3);
    units[2] = nearest_quotient(mean - apart + bend, 3);
  }
  const int exponent = scale_exponent<T>(d);
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    if (channel >= d.channels) continue;
    const T old = volume[channel * voxels];
    bool is_kept = false;
    if constexpr (std::is_same_v<T, float>) is_kept = !is_finite(old);
    result[channel * voxels] = is_kept ? old : voxel_of_units<T>(d, units[channel], exponent);
  }
}

}  // namespace tessera::cuda

extern "C" __global__ void tessera_denoise_begin(const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {
  if (threadIdx.x == 0) *denoise.largest = 0;
}
extern "C" __global__ void tessera_denoise_largest(const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {
  tessera::cuda::find_largest(denoise);
}
extern "C" __global__ void tessera_denoise_clear(const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {
  tessera::cuda::clear_sums(denoise);
}

#define TESSERA_DENOISE_FRAME(Voxel, name)                               \
  extern "C" __global__ void tessera_denoise_mean_##name(                \
      const __grid_constant__ tessera::cuda::DenoiseArguments denoise) { \
    tessera::cuda::find_mean<Voxel>(denoise);                            \
  }                                                                      \
  extern "C" __global__ void tessera_denoise_finish_##name(              \
      const __grid_constant__ tessera::cuda::DenoiseArguments denoise) { \
    tessera::cuda::finish_voxels<Voxel>(denoise);                        \
  }
TESSERA_DENOISE_TYPES(TESSERA_DENOISE_FRAME)
