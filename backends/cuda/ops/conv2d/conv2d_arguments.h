// What the kernels of conv2d take, by value; read by host and device.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// Sums of integers wrap around, which unsigned arithmetic is allowed to; an int32 output is written through its bits.
template <class Pixel>
using Conv2dSum = std::conditional_t<std::is_integral_v<Pixel>, std::uint32_t, float>;

/// Output (y, x) of each image is the sum over (i, j) of weight (i, j) * image(y + i - anchor_y, x + j - anchor_x),
/// pixels outside of the image being 0.
template <class Pixel>
struct Conv2dArguments {
  const Pixel* image;
  Conv2dSum<Pixel>* output;
  const Conv2dSum<Pixel>* weights;  ///< in device memory, row by row
  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
  std::int64_t output_height;
  std::int64_t output_width;
  int filter_height;
  int filter_width;
  int anchor_y;
  int anchor_x;
};

/// The most threads of a group of the naive kernel: one a pixel. Registers are for two such groups a multiprocessor.
inline constexpr int kConv2dNaiveThreads = 1024;

/// Pixels beside each other that one thread of the marching kernel holds, and that a warp does.
inline constexpr int kMarchingPixels = 4;
inline constexpr int kMarchingColumns = 32 * kMarchingPixels;
inline constexpr int kMarchingLargest = 7;

/// What the marching kernels take beside: a square filter of 3, 5 or 7 in the kernel's own constant memory, its centre
/// being the anchor, and where the march goes. The image of the output is shifted against that of the sums where the
/// problem's anchor is not the centre.
template <class Pixel>
struct Conv2dMarchingArguments {
  Conv2dArguments<Pixel> conv2d;
  /// The weights row by row; for a separable filter its column, then its row.
  Conv2dSum<Pixel> weights[kMarchingLargest * kMarchingLargest];
  std::int64_t first_x;  ///< of the first strip, in the image's columns: a multiple of kMarchingPixels, 0 or less
  std::int64_t strips;   ///< side by side
  std::int64_t runs;     ///< one below the other
  int rows_per_run;
  int shift_y;  ///< the output's row is the sum's row less shift_y
  int shift_x;
};

}  // namespace tessera::cuda
