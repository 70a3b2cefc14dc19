// Pixels as numbers, and several of them at once.
#pragma once

#include "ops/conv2d/conv2d_arguments.h"

namespace tessera::cuda {

template <class Pixel>
__device__ __forceinline__ Conv2dSum<Pixel> number(Pixel pixel) {
  if constexpr (std::is_integral_v<Pixel>) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(pixel));
  } else {
    return pixel;
  }
}

/// Pixel (y, x) as a number; 0 outside of the image.
template <class Pixel>
__device__ __forceinline__ Conv2dSum<Pixel> pixel_at(const Conv2dArguments<Pixel>& conv2d, const Pixel* image,
                                                     std::int64_t y, std::int64_t x) {
  const bool inside = y >= 0 && y < conv2d.height && x >= 0 && x < conv2d.width;
  return inside ? number(image[y * conv2d.width + x]) : Conv2dSum<Pixel>(0);
}

/// So many pixels, loaded as one word.
template <class Pixel>
struct alignas(sizeof(Pixel) * kMarchingPixels) PixelVector {
  Pixel pixels[kMarchingPixels];
};
template <class Sum>
struct alignas(sizeof(Sum) * kMarchingPixels) SumVector {
  Sum sums[kMarchingPixels];
};

}  // namespace tessera::cuda
