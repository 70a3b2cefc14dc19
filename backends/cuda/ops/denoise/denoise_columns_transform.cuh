// denoise, columns: a patch of 4 x 4 x 4 voxels in registers times Haar's or the DCT's matrix along its axes, and back.
// Results are the definition's (docs/decisions/0019) in fewer operations: products with 0 and additions of it change
// nothing, and a half of a number is exact, so that it may be taken before or after an addition, or within a fused one,
// which rounds once like the addition alone. Numbers so small that their half is not exact (below 2^-125) may differ,
// but they are lost wherever they meet a threshold, a variance or an estimate's unit: the host sees to these.
#pragma once

#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// Rows 1 and 3 of the DCT of four, as the host computes them (mathematics/denoise_tables.h).
inline constexpr float kDctLarge = 0.653281482438188264F;
inline constexpr float kDctSmall = 0.270598050073098492F;
/// Haar's rows 2 and 3.
inline constexpr float kHaarFine = 0.70710678118654752440F;

[[nodiscard]] __device__ __forceinline__ float half_plus(float number, float other) {
  return __fmaf_rn(0.5F, number, other);
}

struct HaarOfFour {
  static __device__ __forceinline__ void forward(float& a, float& b, float& c, float& d) {
    const float sum = plus(a, b);
    const float first = times(0.5F, plus(plus(sum, c), d));
    const float second = times(0.5F, minus(minus(sum, c), d));
    const float third = minus(times(kHaarFine, a), times(kHaarFine, b));
    d = minus(times(kHaarFine, c), times(kHaarFine, d));
    a = first, b = second, c = third;
  }
  static __device__ __forceinline__ void back(float& a, float& b, float& c, float& d) {
    const float sum = plus(a, b);
    const float difference = minus(a, b);
    const float left = times(kHaarFine, c);
    const float right = times(kHaarFine, d);
    a = half_plus(sum, left);
    b = half_plus(sum, -left);
    c = half_plus(difference, right);
    d = half_plus(difference, -right);
  }
};

struct DctOfFour {
  static __device__ __forceinline__ void forward(float& a, float& b, float& c, float& d) {
    const float first = times(0.5F, plus(plus(plus(a, b), c), d));
    const float third = times(0.5F, plus(minus(minus(a, b), c), d));
    const float second =
        minus(minus(plus(times(kDctLarge, a), times(kDctSmall, b)), times(kDctSmall, c)), times(kDctLarge, d));
    d = minus(plus(minus(times(kDctSmall, a), times(kDctLarge, b)), times(kDctLarge, c)), times(kDctSmall, d));
    a = first, b = second, c = third;
  }
  static __device__ __forceinline__ void back(float& a, float& b, float& c, float& d) {
    const float large_b = times(kDctLarge, b);
    const float small_b = times(kDctSmall, b);
    const float large_d = times(kDctLarge, d);
    const float small_d = times(kDctSmall, d);
    const float first = plus(half_plus(c, half_plus(a, large_b)), small_d);
    const float second = minus(half_plus(-c, half_plus(a, small_b)), large_d);
    const float third = plus(half_plus(-c, half_plus(a, -small_b)), large_d);
    d = minus(half_plus(c, half_plus(a, -large_b)), small_d);
    a = first, b = second, c = third;
  }
};

inline constexpr int kCubeVoxels = 64;

template <class Transform, int kApart, bool kIsInverse>
__device__ __forceinline__ void transform_cube_axis(float (&patch)[kCubeVoxels]) {
#pragma unroll
  for (int line = 0; line < kCubeVoxels / 4; ++line) {
    const int i = line / kApart * kApart * 4 + line % kApart;
    if constexpr (kIsInverse) {
      Transform::back(patch[i], patch[i + kApart], patch[i + 2 * kApart], patch[i + 3 * kApart]);
    } else {
      Transform::forward(patch[i], patch[i + kApart], patch[i + 2 * kApart], patch[i + 3 * kApart]);
    }
  }
}
template <class Transform, bool kIsInverse>
__device__ __forceinline__ void transform_cube(float (&patch)[kCubeVoxels]) {
  transform_cube_axis<Transform, 1, kIsInverse>(patch);
  transform_cube_axis<Transform, 4, kIsInverse>(patch);
  transform_cube_axis<Transform, 16, kIsInverse>(patch);
}

}  // namespace tessera::cuda
