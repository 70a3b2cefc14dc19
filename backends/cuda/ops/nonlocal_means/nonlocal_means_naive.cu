// nonlocal_means, naive: one thread a voxel. Every operation is the definition's (docs/decisions/0020).
//
//   begin     the largest magnitude is 0; of floats alone, as the next
//   largest   threads in strides over the volume; a warp's maximum, then the card's
//   numbers   one thread a voxel of the volume with its mirrored borders: a whole number of 32 bits
//   naive     numbers with borders                              A thread compares its patch with every candidate's,
//             +-------------------+                             number by number from device memory: through the
//             | m +-window-+   m  |  distance -> weight ->      caches, where neighbours find what they share. What
//             | m | i  j   |   m  |  sums of 64 bits            a distance weighs is looked up in a table of 16 KB.
//             | m +--------+   m  |
//             +-------------------+
//
// Sums of squares of bytes fit into 32 bits, others into 64.
#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "ops/nonlocal_means/nonlocal_means_arguments.h"

namespace tessera::cuda {

__device__ __forceinline__ std::int64_t means_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t with_borders(const MeansArguments& m, int axis) {
  return m.size[axis] + m.patch[axis] - 1;
}
__device__ __forceinline__ std::int64_t voxels_with_borders(const MeansArguments& m) {
  return with_borders(m, 0) * with_borders(m, 1) * with_borders(m, 2);
}
__device__ __forceinline__ std::int64_t voxels_of(const MeansArguments& m) {
  return m.size[0] * m.size[1] * m.size[2];
}
__device__ __forceinline__ bool is_finite(float number) {
  return (__float_as_uint(number) & 0x7f800000U) != 0x7f800000U;
}
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// That of the scale: voxels are whole numbers of 2^(exponent - kMeansNumberBits). Integers stay as they are.
template <class T>
__device__ __forceinline__ int scale_exponent(const MeansArguments& m) {
  if constexpr (std::is_same_v<T, float>) {
    const std::uint32_t largest = *m.largest;
    const int exponent = static_cast<int>(largest >> 23) - 126;
    return largest == 0 ? 0 : min(max(exponent, kMeansLeastScale), kMeansMostScale);
  } else {
    return kMeansLeastScale;
  }
}

__device__ __forceinline__ void find_largest(const MeansArguments& m) {
  const auto* const volume = static_cast<const float*>(m.volume);
  const std::int64_t count = voxels_of(m) * m.channels;
  std::uint32_t found = 0;
  for (std::int64_t i = means_thread(); i < count; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    if (is_finite(volume[i])) found = max(found, __float_as_uint(fabsf(volume[i])));
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) found = max(found, __shfl_xor_sync(0xffffffffU, found, apart));
  if (threadIdx.x % 32 == 0) atomicMax(m.largest, found);
}

/// The voxel that one with borders is.
__device__ __forceinline__ std::int64_t mirrored(const MeansArguments& m, int axis, std::int64_t bordered) {
  const std::int64_t turn = 2 * m.size[axis];
  const std::int64_t rest = (bordered - m.patch_before[axis]) % turn;
  const std::int64_t place = rest < 0 ? rest + turn : rest;
  return place < m.size[axis] ? place : turn - 1 - place;
}

template <class T>
__device__ __forceinline__ void make_numbers(const MeansArguments& m) {
  const std::int64_t item = means_thread();
  if (item >= voxels_with_borders(m) * m.channels) return;
  const std::int64_t row = item / with_borders(m, 0);
  const std::int64_t plane = row / with_borders(m, 1);
  const std::int64_t channel = plane / with_borders(m, 2);
  const std::int64_t x = mirrored(m, 0, item - row * with_borders(m, 0));
  const std::int64_t y = mirrored(m, 1, row - plane * with_borders(m, 1));
  const std::int64_t z = mirrored(m, 2, plane - channel * with_borders(m, 2));
  const T voxel = static_cast<const T*>(m.volume)[((channel * m.size[2] + z) * m.size[1] + y) * m.size[0] + x];
  if constexpr (std::is_same_v<T, float>) {
    const float scaled = __fmul_rn(voxel, power_of_two(kMeansNumberBits - scale_exponent<T>(m)));
    m.numbers[item] = is_finite(voxel) ? __float2int_rn(scaled) : kMeansNoNumber;
  } else {
    m.numbers[item] = voxel;
  }
}

template <class T>
__device__ __forceinline__ auto distance_of(const MeansArguments& m, const std::int32_t* a, const std::int32_t* b) {
  using Squares = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint32_t, std::uint64_t>;
  Squares sum = 0;
  for (std::int64_t channel = 0; channel < m.channels; ++channel) {
    for (std::int64_t z = 0; z < m.patch[2]; ++z) {
      for (std::int64_t y = 0; y < m.patch[1]; ++y) {
        const std::int64_t plane = channel * with_borders(m, 2) + z;
        const std::int64_t first = (plane * with_borders(m, 1) + y) * with_borders(m, 0);
        for (std::int64_t x = first; x < first + m.patch[0]; ++x) {
          const int apart = a[x] - b[x];
          const auto size = static_cast<std::uint32_t>(apart < 0 ? -apart : apart);
          // Of integers up to 16 bits, whose square fits into 32.
          sum += std::is_same_v<T, float> ? static_cast<Squares>(size) * size : static_cast<Squares>(size * size);
        }
      }
    }
  }
  return sum;
}

/// The sum of weighted candidates over that of weights, to the nearest, halves up.
template <class T>
__device__ __forceinline__ T mean_of(std::int64_t sum, std::int64_t weights, int exponent) {
  const std::int64_t numerator = 2 * sum + weights;
  if constexpr (std::is_same_v<T, float>) {
    const std::int64_t mean =
        numerator >= 0 ? numerator / (2 * weights) : -((-numerator + 2 * weights - 1) / (2 * weights));
    const float voxel = __fmul_rn(__ll2float_rn(mean), power_of_two(exponent - kMeansNumberBits));
    return fminf(fmaxf(voxel, -FLT_MAX), FLT_MAX);
  } else {
    return static_cast<T>(numerator / (2 * weights));
  }
}

template <class T>
__device__ __forceinline__ void find_mean(const MeansArguments& m) {
  const std::int64_t item = means_thread();
  if (item >= voxels_of(m)) return;
  const std::int64_t row = item / m.size[0];
  const std::int64_t plane = row / m.size[1];
  const std::int64_t at[3] = {item - row * m.size[0], row - plane * m.size[1], plane};
  std::int64_t first[3];
  std::int64_t last[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = max(at[axis] - m.before[axis], std::int64_t{0});
    last[axis] = min(at[axis] + m.behind[axis], m.size[axis] - 1);
  }
  const int exponent = scale_exponent<T>(m);
  const std::uint32_t* const scale = m.table + kMeansTableWeights + 3 * (exponent - kMeansLeastScale);
  const std::uint64_t noise = static_cast<std::uint64_t>(scale[1]) << 32 | scale[0];
  const float steps = __uint_as_float(scale[2]);
  const auto number_at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return m.numbers + (z * with_borders(m, 1) + y) * with_borders(m, 0) + x;
  };
  const std::int32_t* const patch = number_at(at[0], at[1], at[2]);
  const std::int64_t middle = number_at(m.patch_before[0], m.patch_before[1], m.patch_before[2]) - m.numbers;
  const std::int64_t of_channel = voxels_with_borders(m);
  std::uint64_t weights = 0;
  std::uint64_t sums[3] = {0, 0, 0};
  for (std::int64_t z = first[2]; z <= last[2]; ++z) {
    for (std::int64_t y = first[1]; y <= last[1]; ++y) {
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        const std::int32_t* const candidate = number_at(x, y, z);
        const std::uint64_t distance = distance_of<T>(m, patch, candidate);
        if (distance > m.reach) continue;
        const float above = distance > noise ? __ull2float_rn(distance - noise) : 0.0F;
        const float entry = fminf(__fmul_rn(above, steps), static_cast<float>(kMeansTableWeights - 1));
        const std::uint32_t weight = m.table[static_cast<std::uint32_t>(entry)];
        weights += weight;
#pragma unroll
        for (int channel = 0; channel < 3; ++channel) {
          if (channel >= m.channels) continue;
          const std::int64_t weighed = static_cast<std::int64_t>(weight) * candidate[middle + channel * of_channel];
          sums[channel] += static_cast<std::uint64_t>(weighed);
        }
      }
    }
  }
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    if (channel >= m.channels) continue;
    const std::int64_t i = channel * voxels_of(m) + item;
    const T voxel = static_cast<const T*>(m.volume)[i];
    bool is_kept = false;
    if constexpr (std::is_same_v<T, float>) is_kept = !is_finite(voxel);
    static_cast<T*>(m.result)[i] =
        is_kept ? voxel
                : mean_of<T>(static_cast<std::int64_t>(sums[channel]), static_cast<std::int64_t>(weights), exponent);
  }
}

}  // namespace tessera::cuda

extern "C" __global__ void tessera_nonlocal_means_begin(const __grid_constant__ tessera::cuda::MeansArguments means) {
  if (threadIdx.x == 0) *means.largest = 0;
}
extern "C" __global__ void tessera_nonlocal_means_largest(const __grid_constant__ tessera::cuda::MeansArguments means) {
  tessera::cuda::find_largest(means);
}

#define TESSERA_MEANS(Voxel, name)                                                                       \
  extern "C" __global__ void tessera_nonlocal_means_numbers_##name(                                      \
      const __grid_constant__ tessera::cuda::MeansArguments means) {                                     \
    tessera::cuda::make_numbers<Voxel>(means);                                                           \
  }                                                                                                      \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kMeansThreads)                             \
      tessera_nonlocal_means_naive_##name(const __grid_constant__ tessera::cuda::MeansArguments means) { \
    tessera::cuda::find_mean<Voxel>(means);                                                              \
  }
TESSERA_MEANS(std::uint8_t, uint8)
TESSERA_MEANS(std::uint16_t, uint16)
TESSERA_MEANS(float, float32)
