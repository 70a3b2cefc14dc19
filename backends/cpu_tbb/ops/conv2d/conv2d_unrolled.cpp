// The variant "unrolled", the study's third version: rows dealt to the threads, one function for each filter size, so
// that the compiler knows the trip counts, unrolls both loops over the filter and keeps weights in registers:
//
//     |edge|        inside: no test for any tap          |edge|      edges: the loops of conv2d_plain.h
//     +----+---------------------------------------------+----+      inside: conv2d_unrolled_kernel.cpp, which makes
//     |    | sum = w00 * x[0] + ... + w22 * x[2w+2]      |    |      vectors of neighbouring pixels; a pixel is read
//     +----+---------------------------------------------+----+      once for each weight, from the cache.
#include "mathematics/conv2d_filter.h"
#include "ops/conv2d/conv2d_plain.h"
#include "ops/conv2d/conv2d_rows.h"
#include "ops/conv2d/conv2d_unrolled_kernel.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

template <class Pixel>
void unrolled_rows(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                   std::int64_t last) {
  const Conv2d& p = images.problem;
  const std::int64_t side = p.filter_height;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t y = row % images.output_height - p.anchor_y;
    const bool is_inside = y >= 0 && y + side <= p.height && p.width >= side;
    const std::int64_t left = is_inside ? p.anchor_x : images.output_width;
    const std::int64_t right = is_inside ? p.width - side + 1 + p.anchor_x : images.output_width;
    convolve_pixels(images, weights, row, 0, left);
    if (is_inside) {
      convolve_unrolled(side, UnrolledRow<Pixel>{images.image_of(row) + y * p.width, p.width, weights,
                                                 images.row_of(row) + left, right - left});
    }
    convolve_pixels(images, weights, row, right, images.output_width);
  }
}

}  // namespace

backend::Variant<Conv2d> conv2d_unrolled() {
  return {
      .name = "unrolled",
      .summary = "loops unrolled for 3 x 3, 5 x 5 and 7 x 7, no test inside, rows spread over the threads",
      .check = [](const Conv2d& problem, const backend::Device&) { return mathematics::check_square_3_5_7(problem); },
      .tunables = conv2d_row_tunables,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning& tuning) {
            return make_conv2d_rows(
                problem, tuning,
                []<class Pixel>(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                                std::int64_t last) { unrolled_rows(images, weights, first, last); });
          },
  };
}

}  // namespace tessera::cpu_tbb
