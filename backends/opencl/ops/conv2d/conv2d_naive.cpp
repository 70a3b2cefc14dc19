// conv2d, naive: one work-item a pixel; a block's shape, and which way neighbouring work-items go, are tunables. See
// conv2d_naive.cl.
#include <utility>
#include <vector>

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

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  std::vector<Tunable> all =
      plain_group_tunables(native(device).facts(), {8, 16, 32}, "the output", [&](const PlainGroup& group) -> bool {
        return static_cast<bool>(check_groups("conv2d", conv2d_blocks(problem, group.rows, group.columns)));
      });
  all.push_back(
      {"down_columns", "1: neighbouring work-items have pixels below each other, 0: beside each other", {0, 1}, 0});
  return all;
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const OpenclDevice& opencl = native(device);
  auto kernel = opencl.kernel(conv2d_program("conv2d_naive", embedded::conv2d_naive, problem));
  const bool down = tuning.at("down_columns") != 0;
  PlainGroup items = plain_group(tuning);
  if (down) std::swap(items.rows, items.columns);
  items = shrunk(items, *kernel, opencl.facts());
  PlainGroup block = items;
  if (down) std::swap(block.rows, block.columns);
  kernel->set(kConv2dWeights + 1, static_cast<cl_int>(down));
  return bind_conv2d_weights(
      conv2d_launch(std::move(kernel), problem, {items.rows, items.columns, block.rows, block.columns}),
      conv2d_weight_bits(problem, problem.filter), device);
}

}  // namespace

backend::Variant<Conv2d> conv2d_naive() {
  return {.name = "naive",
          .summary = "one work-item a pixel, from global memory",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
