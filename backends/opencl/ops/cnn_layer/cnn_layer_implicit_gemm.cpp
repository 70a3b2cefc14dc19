// cnn_layer, implicit_gemm: the convolution as a product of matrices in registers. The row, its tunables, and how a
// problem is cut into passes and parts.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"

#include <algorithm>
#include <utility>

#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/gemm/gemm_tile_offer.h"

namespace tessera::opencl {

namespace {

/// Workspace beyond which a batch is computed in passes instead.
constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{64} << 20U;

/// Tiles of a processor are two and three vectors wide.
std::vector<std::int64_t> candidates(const CnnLayer& problem, const DeviceFacts& facts) {
  if (facts.info.kind != DeviceKind::cpu) return {32, 64, 128};
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(problem.type));
  return {2 * width, 3 * width};
}

TileOffer offer_of(const CnnLayer& problem, const OpenclDevice& device) {
  return offer_tiles(problem, device, candidates(problem, device.facts()), check_gemm_local, check_gemm_panels);
}

backend::Verdict check(const CnnLayer& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  if (backend::Verdict verdict = check_cnn_layer_type(problem, opencl.facts()); !verdict) return verdict;
  return offer_of(problem, opencl).verdict();
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  const TileOffer offer = offer_of(problem, opencl);
  const ImplicitGemmTuning best = choose_implicit_gemm(problem, opencl.facts(), offer.best_shape, offer.tiles);
  return {{.name = "local_memory",
           .meaning = "1: groups share tiles in local memory; 0: each work-item alone reads panels of weights",
           .values = offer.shapes,
           .preferred = best.local_memory},
          {.name = "tile",
           .meaning = "output channels that a work-group computes",
           .values = offer.tiles,
           .preferred = best.tile},
          {.name = "split_k",
           .meaning = "parts that the sums are cut into at most, each computed by groups of its own",
           .values = {kImplicitGemmSplits.begin(), kImplicitGemmSplits.end()},
           .preferred = best.split_k}};
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const ImplicitGemmTuning chosen{tuning.at("local_memory"), tuning.at("tile"), tuning.at("split_k")};
  return chosen.local_memory != 0 ? make_gemm_local(problem, native(device), chosen)
                                  : make_gemm_panels(problem, native(device), chosen);
}

}  // namespace

ProductPlan::ProductPlan(const CnnLayer& problem, std::int64_t wanted_parts, std::int64_t depth)
    : steps(problem.input_channels * problem.filter_height * problem.filter_width),
      padded_steps(pieces_of(steps, depth) * depth) {
  const std::int64_t sums = problem.output_channels * problem.convolved_height() * problem.convolved_width();
  const std::int64_t fitting = kMostWorkspaceBytes / static_cast<std::int64_t>(size_bytes(problem.type)) / sums;
  const std::int64_t most = std::clamp<std::int64_t>(fitting, 1, wanted_parts);
  part_steps = pieces_of(padded_steps / depth, most) * depth;
  parts = pieces_of(padded_steps, part_steps);
  is_part = parts > 1 || (problem.pool_size > 1 && !has_plain_pool(problem));
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
  const auto& program =
      device.programs().build_once(cnn_layer_program("cnn_layer_finish", embedded::cnn_layer_finish, pass));
  const CnnLayerShape shape = cnn_layer_shape(pass);
  const std::int64_t outputs = pass.batch * shape.output_image;
  OperatorLaunch launch;
  launch.kernel = std::make_unique<CompiledKernel>(device.context(), program.get(), "cnn_layer_finish");
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(outputs));
  launch.memory = {
      {.place = MemoryArgument::kWorkspace, .type = pass.type, .first_element = static_cast<std::uint64_t>(first_sum)},
      {.place = kCnnBias, .type = pass.type},
      from_image(kCnnOutput, pass, first_image)};
  launch.set_scalars(shape, cl_long{outputs}, cl_long{plan.parts}, cl_long{pass.batch * plan.sums_of_image});
  return launch;
}

backend::Variant<CnnLayer> cnn_layer_implicit_gemm() {
  return {.name = "implicit_gemm",
          .summary = "a product of matrices in registers, pixels gathered on the way, bias, ReLU and pool on the sums",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
