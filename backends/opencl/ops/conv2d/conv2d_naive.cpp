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

/// down: neighbouring work-items have pixels below each other.
CompilePlain compile_for(const Conv2d& problem, const OpenclDevice& device, bool down) {
  return [&problem, &device, down](const std::string& options) {
    return device.kernel(
        conv2d_program("conv2d_naive", embedded::conv2d_naive, problem, options + " -DDOWN=" + (down ? "1" : "0")));
  };
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  std::vector<Tunable> all =
      plain_group_tunables(device.facts(), {8, 16, 32}, "the output", [&](const PlainGroup& group) {
        return check_groups("conv2d", conv2d_blocks(problem, group.rows, group.columns)) &&
               is_taken_whole(group, device.facts(), compile_for(problem, device, false));
      });
  all.push_back(
      {"down_columns", "1: neighbouring work-items have pixels below each other, 0: beside each other", {0, 1}, 0});
  return all;
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  const bool down = tuning.at("down_columns") != 0;
  PlainGroup items = plain_group(tuning);
  if (down) std::swap(items.rows, items.columns);
  PlainKernel plain = compile_plain(items, device.facts(), compile_for(problem, device, down));
  PlainGroup block = plain.group;
  if (down) std::swap(block.rows, block.columns);
  return bind_conv2d_weights(conv2d_launch(std::move(plain.kernel), problem,
                                           {plain.group.rows, plain.group.columns, block.rows, block.columns}),
                             conv2d_weight_bits(problem, problem.filter), opened);
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
