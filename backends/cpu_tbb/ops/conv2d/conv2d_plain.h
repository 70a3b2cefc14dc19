// The definition of conv2d written down as loops, pixel by pixel; the study's three versions differ in where the sum
// lives and in how much the compiler knows.
//
//      image                               For each pixel of the output all weights of the filter are taken in turn,
//     +----------------------+             each with the pixel beneath it; what lies outside of the image counts as 0
//     |     +-------+        |             and is asked for at every tap. A pixel of the image is read once for each
//     |     | filter|        |             weight, mostly from the caches.
//     |     |   o   |        |
//     |     +-------+        |             o: the anchor, on the output's pixel
//     +----------------------+
#pragma once

#include <algorithm>

#include "ops/conv2d/conv2d_operands.h"

namespace tessera::cpu_tbb {

/// Calls `add(weight, pixel)` for each weight whose pixel lies in the image. (y, x) is the image's pixel under the
/// filter's first.
template <class Pixel, class Add>
inline void for_each_tap(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, const Pixel* image,
                         std::int64_t y, std::int64_t x, Add add) {
  using Sum = Conv2dSum<Pixel>;
  const Conv2d& p = images.problem;
  for (std::int64_t i = 0; i < p.filter_height; ++i) {
    // Two addresses that move on. Computed from the indices each time they would need more registers than there are,
    // and so two more reads from memory for each tap.
    const Sum* weight = weights + i * p.filter_width;
    const Pixel* pixel = image + (y + i) * p.width + x;
    for (std::int64_t j = 0; j < p.filter_width; ++j, ++weight, ++pixel) {
      const bool inside = y + i >= 0 && y + i < p.height && x + j >= 0 && x + j < p.width;
      if (inside) add(*weight, conv2d_number<Sum>(*pixel));
    }
  }
}

/// Pixels [first, last) of an output row, each with its sum in a variable of its own.
template <class Pixel>
void convolve_pixels(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t row,
                     std::int64_t first, std::int64_t last) {
  using Sum = Conv2dSum<Pixel>;
  const Pixel* const image = images.image_of(row);
  Conv2dOutput<Pixel>* const output = images.row_of(row);
  const std::int64_t y = row % images.output_height - images.problem.anchor_y;
  for (std::int64_t x = first; x < last; ++x) {
    Sum sum = 0;
    for_each_tap(images, weights, image, y, x - images.problem.anchor_x,
                 [&](Sum weight, Sum pixel) { sum += weight * pixel; });
    output[x] = static_cast<Conv2dOutput<Pixel>>(sum);
  }
}

/// Rows [first, last) of the output.
template <class Pixel>
void convolve_rows(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                   std::int64_t last) {
  for (std::int64_t row = first; row < last; ++row) convolve_pixels(images, weights, row, 0, images.output_width);
}

}  // namespace tessera::cpu_tbb
