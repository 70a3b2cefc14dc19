// The variant "private_sum", the study's second version: the loops of conv2d_plain.h (its picture is there) with rows
// dealt to the threads, the sum of a pixel in a variable of its own, which the compiler keeps in a register.
#include "ops/conv2d/conv2d_plain.h"
#include "ops/conv2d/conv2d_rows.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<Conv2d> conv2d_private_sum() {
  return {
      .name = "private_sum",
      .summary = "plain loops, each pixel's sum in a register, rows spread over the threads",
      .check = [](const Conv2d&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = conv2d_row_tunables,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning& tuning) {
            return make_conv2d_rows(
                problem, tuning,
                []<class Pixel>(const Conv2dImages<Pixel>& images, const Conv2dSum<Pixel>* weights, std::int64_t first,
                                std::int64_t last) { convolve_rows(images, weights, first, last); });
          },
  };
}

}  // namespace tessera::cpu_tbb
