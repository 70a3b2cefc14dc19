// The variant "sequential": the plain loops of conv2d_plain.h (its picture is there) on the queue's own thread. It must
// stay so: it is the baseline of every speed-up that is reported.
#include "ops/conv2d/conv2d_plain.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<Conv2d> conv2d_sequential() {
  return {
      .name = "sequential",
      .summary = "plain loops on one thread, one pixel after another",
      .check = [](const Conv2d&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning&) {
            return make_conv2d_kernel(problem, []<class Pixel>(Executor&, const Conv2dImages<Pixel>& images) {
              const auto weights = conv2d_weights<Conv2dSum<Pixel>>(images.problem.filter);
              convolve_rows(images, weights.data(), 0, images.output_rows());
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
