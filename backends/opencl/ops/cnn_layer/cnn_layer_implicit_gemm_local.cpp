// cnn_layer, implicit_gemm_local: a product of matrices in registers, through local memory. The row, its shapes and the
// launches. See cnn_layer_implicit_gemm_local.cl.
#include <limits>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/gemm/gemm_local_tile.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

/// Channels of one place of the filter that are tested against the image's edges at once.
constexpr std::int64_t kGroup = 8;

using Shapes = std::vector<LocalTileShape>;

/// On an H200 (driver 580, float32) 128 x 64 is fastest for large layers (the study's takes 3.6 ms), 64 x 64 for small
/// ones. Where there are two slices, they are as fast as twice as many work-items with half the sums each, or faster.
///
/// On NVIDIA from sm_80 on the tiles of 32 channels have steps ahead where pixels are gathered one by one: over nine
/// layers on an H100 32 x 64 takes 0.69 of the time so, in the geometric mean, and with two slices 0.92 of that over
/// 38, each with the best number of parts. The larger tiles take as long with steps ahead as without, and where
/// channels lie beside each other each takes 1.2 times as long; without a committed file.
///
/// Processors get those whose sums no known driver adds up wrongly, and one like theirs.
Shapes shapes_of(const CnnLayer& problem, const DeviceFacts& facts) {
  const bool is_cpu = facts.info.kind == DeviceKind::cpu;
  if (problem.type == DataType::float64) {
    if (is_cpu) return {{32, 64, 8, 8, 16, 4}, {128, 64, 8, 8, 8}};
    return {{32, 64, 8, 8, 16, 4}, {64, 64, 8, 8, 16, 2}, {128, 64, 8, 8, 8}};
  }
  if (is_cpu) return {{32, 64, 4, 4, 16}, {64, 64, 8, 8, 16, 2}};
  if (facts.has_tensor_cores && problem.layout == Layout::nchw) {
    return {{32, 32, 8, 4, 32, 4, 3, 0, true},
            {32, 64, 4, 4, 32, 2, 3, 0, true},
            {64, 64, 8, 8, 16, 2},
            {128, 64, 8, 8, 16}};
  }
  return {{32, 32, 8, 4, 32, 4}, {32, 64, 4, 4, 16}, {64, 64, 8, 8, 16, 2}, {128, 64, 8, 8, 16}};
}

std::uint64_t block_count(const CnnLayerProduct& product, const LocalTileShape& shape) {
  return static_cast<std::uint64_t>(product.channel_blocks) *
         static_cast<std::uint64_t>(ceil_div(product.columns, shape.tile_n));
}
std::uint64_t group_count(const CnnLayerProduct& product, const LocalTileShape& shape) {
  return block_count(product, shape) * static_cast<std::uint64_t>(ceil_div(product.padded_steps, product.part_steps));
}

CnnWeightsForm form_of(const CnnLayer& problem, const ProductPlan& plan, const LocalTileShape& shape) {
  CnnWeightsForm form = cnn_weights_form(problem);
  form.padded_steps = plan.padded_steps;
  form.panel = ceil_div(problem.output_channels, shape.tile_m) * shape.tile_m;
  // Groups of channels let one test serve kGroup pixels. Without padding there is nothing to test, and the weights' own
  // order is 4 % faster (H200, the study's layer).
  if (form.channel_step == 1) {
    form.chunk = problem.input_channels;
  } else if (problem.padding > 0 && problem.input_channels % kGroup == 0) {
    form.chunk = kGroup;
  }
  return form;
}

/// The product of a pass.
CnnLayerProduct product_of(const CnnLayer& pass, const ProductPlan& plan, const LocalTileShape& shape) {
  const CnnWeightsForm form = form_of(pass, plan, shape);
  CnnLayerProduct product = plan.product(pass, pass.batch);
  product.panel = form.panel;
  product.channel_blocks = form.panel / shape.tile_m;
  product.grouped = form.chunk % kGroup == 0 ? 1 : 0;
  return product;
}

backend::Verdict check_shape(const CnnLayer& problem, const DeviceFacts& facts, const LocalTileShape& shape) {
  using backend::Verdict;
  // Places of the filter and the image are numbered in 32 bits, NOWHERE of cnn_layer_product.cl among them.
  constexpr std::int64_t kMostRows = std::int64_t{1} << 29U;
  constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();
  const std::string with = backend::sentence("cnn_layer with tile_m = ", shape.tile_m, " and tile_n = ", shape.tile_n);
  if (const std::int64_t elements = cnn_layer_shape(problem).input_image; elements > kMostElements) {
    return Verdict::no(with + " numbers the elements of an image up to " + std::to_string(kMostElements) +
                       ", but the input has " + std::to_string(elements));
  }
  for (const std::int64_t size : {problem.height, problem.width}) {
    if (problem.padding > kMostRows || size + 2 * problem.padding > kMostRows) {
      return Verdict::no(with + " numbers rows and columns up to " + std::to_string(kMostRows) +
                         ", but the input has " + std::to_string(size) + " and padding is " +
                         std::to_string(problem.padding));
    }
  }
  if (Verdict verdict = check_local_tile(with, shape, problem.type, facts.info); !verdict) return verdict;
  // Parts multiply the number of groups, but only sums that fit the workspace are split, so that there are few groups.
  const ProductPlan plan(problem, 1, shape.depth);
  return check_groups(with, group_count(product_of(problem, plan, shape), shape));
}

Shapes shapes_offered(const CnnLayer& problem, const DeviceFacts& facts) {
  Shapes shapes = shapes_of(problem, facts);
  std::erase_if(shapes, [&](const LocalTileShape& shape) { return !check_shape(problem, facts, shape); });
  return shapes;
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  const Shapes shapes = shapes_offered(problem, facts);
  const ImplicitGemmTuning best = choose_implicit_gemm_local(problem, facts, shapes);
  Tunable tile_m{.name = "tile_m",
                 .meaning = "output channels that a work-group computes",
                 .values = {},
                 .preferred = best.tile_m};
  Tunable tile_n{.name = "tile_n",
                 .meaning = "pixels before the pool that a work-group computes",
                 .values = {},
                 .preferred = best.tile_n,
                 .paired_with = "tile_m"};
  add_tiles(shapes, tile_m, tile_n);
  return {tile_m, tile_n, split_k_tunable(best)};
}

/// Elements of the workspace where the plan's parts are joined; 0 where they are not, or there is one alone.
std::size_t joined_elements(const CnnLayer& problem, const DeviceFacts& facts, const ProductPlan& plan,
                            const LocalTileShape& shape) {
  if (plan.is_part) return 0;
  return elements_of_joined_parts(facts, block_count(product_of(problem, plan, shape), shape), plan.parts,
                                  shape.tile_m * shape.tile_n, problem.type);
}

ProductPlan plan_of(const CnnLayer& problem, const DeviceFacts& facts, const LocalTileShape& shape,
                    std::int64_t parts) {
  const ProductPlan plan(problem, parts, shape.depth, true);
  if (plan.parts == 1 || joined_elements(problem, facts, plan, shape) != 0) return plan;
  return ProductPlan(problem, parts, shape.depth);
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  const LocalTileShape shape = tile_of(shapes_of(problem, device.facts()), tuning);
  const ProductPlan plan = plan_of(problem, device.facts(), shape, tuning.at("split_k"));
  const std::size_t joined = joined_elements(problem, device.facts(), plan, shape);
  const CnnWeightsForm form = form_of(problem, plan, shape);
  ProgramSource source = cnn_layer_program("cnn_layer_implicit_gemm_local", embedded::cnn_layer_implicit_gemm_local,
                                           problem, shape.options());
  if (joined != 0) join_parts(source, device.facts());

  const std::size_t bytes_of_image =
      static_cast<std::size_t>(plan.parts * plan.sums_of_image) * size_bytes(problem.type);
  std::vector<OperatorLaunch> launches;
  for_each_pass(problem, bytes_of_image, [&](std::int64_t first_image, const CnnLayer& pass) {
    const CnnLayerProduct product = product_of(pass, plan, shape);
    OperatorLaunch launch;
    launch.kernel = device.kernel(source);
    launch.range = {1, {group_count(product, shape) * shape.group_size(), 1, 1}, {shape.group_size(), 1, 1}};
    launch.memory = cnn_layer_operands(problem);
    launch.memory[kCnnInput] = from_image(kCnnInput, problem, first_image);
    launch.memory[kCnnOutput] = from_image(kCnnOutput, problem, first_image);
    if (plan.is_part) launch.memory[kCnnOutput] = {.place = MemoryArgument::kWorkspace, .type = problem.type};
    if (joined != 0) add_joint(launch.memory, problem.type);
    launch.set_structs(cnn_layer_shape(pass), product);
    launches.push_back(std::move(launch));
    if (plan.is_part) launches.push_back(finish_launch(pass, device, plan, first_image, 0));
  });
  const std::size_t workspace_bytes =
      joined != 0 ? joined * size_bytes(problem.type)
                  : static_cast<std::size_t>(images_of_pass(problem, bytes_of_image)) * bytes_of_image;
  return std::make_unique<OpenclKernel>(std::move(launches), workspace_bytes,
                                        prepare_cnn_weights(problem, device, form));
}

}  // namespace

backend::Verdict check_implicit_gemm_local(const CnnLayer& problem, const OpenclDevice& device) {
  if (backend::Verdict verdict = check_cnn_layer_type(problem, device.facts()); !verdict) return verdict;
  if (!shapes_offered(problem, device.facts()).empty()) return backend::Verdict::yes();
  return check_shape(problem, device.facts(), shapes_of(problem, device.facts()).front());
}

backend::Variant<CnnLayer> cnn_layer_implicit_gemm_local() {
  return {.name = "implicit_gemm_local",
          .summary =
              "a product of matrices in registers, through local memory, pixels gathered on the way, bias, ReLU "
              "and pool on the sums",
          .check = [](const CnnLayer& problem,
                      const backend::Device& device) { return check_implicit_gemm_local(problem, native(device)); },
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
