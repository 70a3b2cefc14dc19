// cnn_layer, implicit_gemm_local and implicit_gemm_panels: the convolution as a product of matrices. How a problem is
// cut into passes and parts, and the launch that ends them.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"

#include <algorithm>
#include <utility>

#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// Parts of cnn_layer_finish.cl.
struct CnnLayerParts {
  cl_long count, step;
};
static_assert(sizeof(CnnLayerParts) == 16, "cnn_layer_finish.cl says so too");

}  // namespace

ProductPlan::ProductPlan(const CnnLayer& problem, std::int64_t wanted_parts, std::int64_t depth, bool joins)
    : steps(problem.input_channels * problem.filter_height * problem.filter_width),
      padded_steps(ceil_div(steps, depth) * depth) {
  const std::int64_t sums = problem.output_channels * problem.convolved_height() * problem.convolved_width();
  const std::int64_t fitting = kMostWorkspaceBytes / static_cast<std::int64_t>(size_bytes(problem.type)) / sums;
  const std::int64_t most = std::clamp<std::int64_t>(fitting, 1, wanted_parts);
  part_steps = ceil_div(padded_steps / depth, most) * depth;
  parts = ceil_div(padded_steps, part_steps);
  is_part = (parts > 1 && !joins) || (problem.pool_size > 1 && !has_plain_pool(problem));
  pooled = !is_part && problem.pool_size > 1;
  rows = pooled ? problem.output_height() : problem.convolved_height();
  row_windows = pooled ? problem.output_width() : problem.convolved_width();
  image_columns = rows * row_windows * (pooled ? 4 : 1);
  sums_of_image = is_part ? sums : 0;
}

CnnLayerProduct ProductPlan::product(const CnnLayer& problem, std::int64_t images) const {
  const CnnLayerShape shape = cnn_layer_shape(problem);
  const std::int64_t plane = problem.convolved_height() * problem.convolved_width();
  return {.steps = steps,
          .padded_steps = padded_steps,
          .part_steps = part_steps,
          .panel = 0,
          .channel_blocks = 0,
          .columns = images * image_columns,
          .image_columns = image_columns,
          .row_windows = row_windows,
          .target_part = images * sums_of_image,
          .target_image = is_part ? sums_of_image : shape.output_image,
          .target_channel = is_part ? plane : shape.output_channel,
          .target_pixel = is_part ? 1 : shape.output_pixel,
          .pooled = pooled ? 1 : 0,
          .is_part = is_part ? 1 : 0,
          .grouped = 0,
          .unused = 0};
}

Tunable split_k_tunable(const ImplicitGemmTuning& preferred) {
  return {.name = "split_k",
          .meaning = "parts that the sums are cut into at most, each computed by groups of its own",
          .values = {kImplicitGemmSplits.begin(), kImplicitGemmSplits.end()},
          .preferred = preferred.split_k};
}

std::int64_t images_of_pass(const CnnLayer& problem, std::size_t workspace_of_image) noexcept {
  if (workspace_of_image == 0) return problem.batch;
  const std::int64_t fitting = kMostWorkspaceBytes / static_cast<std::int64_t>(workspace_of_image);
  return std::min(problem.batch, std::max<std::int64_t>(fitting, 1));
}

void for_each_pass(const CnnLayer& problem, std::size_t workspace_of_image,
                   const std::function<void(std::int64_t, const CnnLayer&)>& make) {
  const std::int64_t images = images_of_pass(problem, workspace_of_image);
  for (std::int64_t image = 0; image < problem.batch; image += images) {
    CnnLayer pass = problem;
    pass.batch = std::min(images, problem.batch - image);
    make(image, pass);
  }
}

MemoryArgument from_image(std::size_t place, const CnnLayer& problem, std::int64_t image) {
  const CnnLayerShape shape = cnn_layer_shape(problem);
  const std::int64_t step = place == kCnnInput ? shape.input_image : shape.output_image;
  return {.place = place, .type = problem.type, .first_element = static_cast<std::uint64_t>(image * step)};
}

OperatorLaunch finish_launch(const CnnLayer& pass, const OpenclDevice& device, const ProductPlan& plan,
                             std::int64_t first_image, std::int64_t first_sum) {
  const CnnLayerShape shape = cnn_layer_shape(pass);
  const std::int64_t outputs = pass.batch * shape.output_image;
  OperatorLaunch launch;
  launch.kernel = device.kernel(cnn_layer_program("cnn_layer_finish", embedded::cnn_layer_finish, pass));
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(outputs));
  launch.memory = {
      {.place = MemoryArgument::kWorkspace, .type = pass.type, .first_element = static_cast<std::uint64_t>(first_sum)},
      {.place = kCnnBias, .type = pass.type},
      from_image(kCnnOutput, pass, first_image)};
  launch.set_structs(shape, CnnLayerParts{.count = plan.parts, .step = pass.batch * plan.sums_of_image});
  return launch;
}

}  // namespace tessera::opencl
