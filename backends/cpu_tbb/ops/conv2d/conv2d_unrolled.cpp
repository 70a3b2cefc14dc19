// The variant "unrolled", the study's third version: rows dealt to the threads, one function for each filter size, so
// that the compiler knows the trip counts, unrolls both loops over the filter and keeps the weights in registers:
//
//     |edge|            inside: no test for any tap             |edge|        edges: the loops of conv2d_plain.h
//     +----+----------------------------------------------------+----+
//     |    | sum = w00 * x[0] + w01 * x[1] + ... + w22 * x[2w+2]|    |        The compiler makes vectors of
//     neighbouring
//     +----+----------------------------------------------------+----+        pixels; each pixel of the image is read
//                                                                             once for each weight, from the cache.
#include <array>

#include "backend/conv2d_filter.h"
#include "ops/conv2d/conv2d_plain.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The pixels of a row whose whole filter lies in the image.
template <int kSize, class Pixel>
void convolve_inside(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t row,
                     std::int64_t first, std::int64_t last) {
  using Sum = Conv2dSum<Pixel>;
  std::array<Sum, kSize * kSize> w;
  std::copy_n(weights, w.size(), w.begin());
  const std::int64_t width = images.problem.width;
  const std::int64_t y = row % images.output_height - images.problem.anchor_y;
  const Pixel* const __restrict__ source = images.image_of(row) + y * width - images.problem.anchor_x;
  Conv2dOutput<Pixel>* const __restrict__ output = images.row_of(row);
  for (std::int64_t x = first; x < last; ++x) {
    Sum sum = 0;
    for (int i = 0; i < kSize; ++i) {
      for (int j = 0; j < kSize; ++j) sum += w[i * kSize + j] * conv2d_number<Sum>(source[i * width + x + j]);
    }
    output[x] = static_cast<Conv2dOutput<Pixel>>(sum);
  }
}

template <int kSize, class Pixel>
void unrolled_rows(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                   std::int64_t last) {
  const Conv2d& p = images.problem;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t y = row % images.output_height - p.anchor_y;
    const bool rows_inside = y >= 0 && y + kSize <= p.height && p.width >= kSize;
    const std::int64_t left = rows_inside ? p.anchor_x : images.output_width;
    const std::int64_t right = rows_inside ? p.width - kSize + 1 + p.anchor_x : images.output_width;
    convolve_pixels(images, weights, row, 0, left);
    convolve_inside<kSize>(images, weights, row, left, right);
    convolve_pixels(images, weights, row, right, images.output_width);
  }
}

template <class Pixel>
void unrolled_any(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                  std::int64_t last) {
  switch (images.problem.filter_height) {
    case 3: return unrolled_rows<3>(images, weights, first, last);
    case 5: return unrolled_rows<5>(images, weights, first, last);
    default: return unrolled_rows<7>(images, weights, first, last);
  }
}

}  // namespace

backend::Variant<Conv2d> conv2d_unrolled() {
  return {
      .name = "unrolled",
      .summary = "loops unrolled for 3 x 3, 5 x 5 and 7 x 7, no test inside, rows spread over the threads",
      .check = [](const Conv2d& problem, const backend::Device&) { return backend::check_square_3_5_7(problem); },
      .tunables = nullptr,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning&) {
            return make_conv2d_kernel(problem, []<class Pixel>(Executor& executor, const Conv2dImages<Pixel>& images) {
              const auto weights = conv2d_weights<Conv2dSum<Pixel>>(images.problem.filter);
              executor.parallel_for(images.output_rows(), [&](std::int64_t first, std::int64_t last) {
                unrolled_any(images, weights.data(), first, last);
              });
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
