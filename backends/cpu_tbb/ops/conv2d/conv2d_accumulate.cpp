// The variant "accumulate", the study's first version: the loops of conv2d_plain.h (its picture is there) with rows
// dealt to the threads, and each product added to the output's pixel in memory:
//
//     output[x] += weight * pixel        one read and one write of the output for every weight
//
// `volatile` says so to the compiler, which would otherwise find the register by itself. That costs what the study
// measured: more reads than products, and each addition waits for the store before it.
#include "ops/conv2d/conv2d_plain.h"
#include "ops/conv2d/conv2d_rows.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

template <class Pixel>
void accumulate_rows(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                     std::int64_t last) {
  using Sum = Conv2dSum<Pixel>;
  for (std::int64_t row = first; row < last; ++row) {
    const Pixel* const image = images.image_of(row);
    auto* const output = reinterpret_cast<volatile Sum*>(images.row_of(row));
    const std::int64_t y = row % images.output_height - images.problem.anchor_y;
    for (std::int64_t x = 0; x < images.output_width; ++x) {
      output[x] = 0;
      for_each_tap(images, weights, image, y, x - images.problem.anchor_x,
                   [&](Sum weight, Sum pixel) { output[x] = output[x] + weight * pixel; });
    }
  }
}

}  // namespace

backend::Variant<Conv2d> conv2d_accumulate() {
  return {
      .name = "accumulate",
      .summary = "plain loops, each product added to the output in memory, rows spread over the threads",
      .check = [](const Conv2d&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = conv2d_row_tunables,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning& tuning) {
            return make_conv2d_rows(
                problem, tuning,
                []<class Pixel>(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                                std::int64_t last) { accumulate_rows(images, weights, first, last); });
          },
  };
}

}  // namespace tessera::cpu_tbb
