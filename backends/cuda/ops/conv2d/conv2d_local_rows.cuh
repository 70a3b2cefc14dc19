// Rows of an image as numbers in shared memory, for kernels whose threads each take several neighbouring numbers.
//
//     0 ... 31 free 32 ... 63 free 64 ...      After every 32 numbers 4 places stay free. So 8 threads that read 4
//    +--------+----+---------+----+---         numbers each, 8 or 16 apart, find them in different banks; without
//                                              that, those 32 apart would wait for each other. Threads with numbers
//                                              beside each other do not notice.
//
// Pixels outside of the image stand there as zeros, so that no product asks. Integers whose sums are exact in float are
// summed in float, which cards multiply at twice the rate.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/conv2d/conv2d_tile_arguments.h"

namespace tessera::cuda {

/// Weights that stand together, a segment of a filter's row or column.
inline constexpr int kSegment = 8;
/// Pixels that a thread fetches of a row at most, a warp apart: enough for the 128 + 62 columns of the largest filter.
/// 5 are enough for a filter of 33.
inline constexpr int kMostFetched = 6;

template <class Sum>
struct alignas(16) Quad {
  Sum numbers[4];
};

template <class Sum>
__device__ __forceinline__ void take_quad(Sum* numbers, const Quad<Sum>& quad) {
#pragma unroll
  for (int i = 0; i < 4; ++i) numbers[i] = quad.numbers[i];
}

/// Where number x of a row stands, and where the 4 from 4 * quad on do, in units of 4.
__device__ __forceinline__ int place_of(int x) {
  return x + x / 32 * 4;
}
__device__ __forceinline__ int place_of_quad(int quad) {
  return quad + quad / 8;
}
/// From one row to the next, in units of 4. `columns` is a multiple of 4.
__device__ __forceinline__ int pitch_of(int columns) {
  return place_of_quad(columns / 4 - 1) + 1;
}
/// Columns of the image under `outputs` columns of the output, as many as rows in shared memory have.
__device__ __forceinline__ int columns_under(int outputs, int filter_width) {
  return (outputs + filter_width - 1 + 3) / 4 * 4;
}

template <class Sum, class Pixel>
__device__ __forceinline__ Sum as_number(Pixel pixel) {
  if constexpr (std::is_same_v<Sum, float>) return static_cast<float>(pixel);
  return static_cast<Sum>(static_cast<std::int32_t>(pixel));
}

/// Which of a thread's pixels belong to the row in shared memory, and which lie in the image: one bit each. The first 4
/// belong to every row, of 128 columns and more.
struct Columns {
  unsigned held;
  unsigned inside;
  bool all_inside;  ///< of all threads
};
__device__ __forceinline__ Columns columns_of(std::int64_t x, int lane, int columns, std::int64_t width) {
  Columns own{0, 0, x >= 0 && x + columns <= width};
#pragma unroll
  for (int i = 0; i < kMostFetched; ++i) {
    const int column = lane + i * 32;
    if (column < columns) own.held |= 1U << i;
    if (column < columns && x + column >= 0 && x + column < width) own.inside |= 1U << i;
  }
  return own;
}

/// All loads of a row stand before the first number that is stored, so that they are in flight together. `row`: this
/// thread's first pixel, or its first number.
template <bool kAllInside, class Pixel, int kFetched>
__device__ __forceinline__ void fetch_row(Pixel (&pixels)[kFetched], const Pixel* row, bool in_image,
                                          const Columns& own) {
  const unsigned inside = in_image ? kAllInside ? own.held : own.inside : 0;
#pragma unroll
  for (int i = 0; i < kFetched; ++i) {
    pixels[i] = 0;
    if (kAllInside && i < 4 ? in_image : (inside >> i & 1) != 0) pixels[i] = row[i * 32];
  }
}
template <class Sum, class Pixel, int kFetched>
__device__ __forceinline__ void put_row(Sum* row, const Pixel (&pixels)[kFetched], const Columns& own) {
#pragma unroll
  for (int i = 0; i < kFetched; ++i) {
    if (i < 4 || (own.held >> i & 1) != 0) row[i * 36] = as_number<Sum>(pixels[i]);
  }
}

}  // namespace tessera::cuda
