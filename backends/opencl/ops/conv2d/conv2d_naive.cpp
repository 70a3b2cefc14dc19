// conv2d, naive: one work-item a pixel. See conv2d_naive.cl.
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"
#include "ops/plain_group.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const Conv2d& problem, const backend::Device& device) {
  const PlainGroup smallest = smallest_plain_group(native(device).facts());
  return check_groups("conv2d", conv2d_blocks(problem, smallest.rows, smallest.columns));
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& /*tuning*/) {
  const OpenclDevice& opencl = native(device);
  auto kernel = opencl.kernel(conv2d_program("conv2d_naive", embedded::conv2d_naive, problem));
  const PlainGroup group = plain_group(*kernel, opencl.facts());
  return bind_conv2d_weights(
      conv2d_launch(std::move(kernel), problem, {group.rows, group.columns, group.rows, group.columns}),
      conv2d_weight_bits(problem, problem.filter), device);
}

}  // namespace

backend::Variant<Conv2d> conv2d_naive() {
  return {.name = "naive",
          .summary = "one work-item a pixel, from global memory",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
