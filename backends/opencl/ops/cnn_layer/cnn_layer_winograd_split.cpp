// The variant "winograd_split": products by the fp16 tensor cores of NVIDIA's sm_80 and newer, as gemm's split makes
// them. Pixels are transformed straight into the panels that are multiplied, and weights are prepared as gemm prepares
// its A. The same algorithm, and the same bound, as CUDA's (docs/decisions/0026).
#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd_split.h"
#include "mathematics/division.h"
#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"
#include "ops/gemm/gemm_split.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::round_up;

/// Tiles and channels of a group that transforms pixels, a work-item for each of both.
constexpr std::int64_t kBlock = 16;

double sum_roundings(const CnnLayer& problem, const GemmSplitShape& shape) {
  return mathematics::cnn_layer_winograd_split_roundings(problem, shape.panel_depth());
}
/// Of any shape.
double sum_roundings(const CnnLayer& problem, const OpenclDevice& device) {
  double most = 0;
  for (const std::int64_t depth : gemm_split_panel_depths(device)) {
    most = std::max(most, mathematics::cnn_layer_winograd_split_roundings(problem, depth));
  }
  return most;
}

/// The products of `tiles` tiles, with channels as they are padded.
Gemm product_of(const CnnLayer& problem, const OpenclDevice& device, std::int64_t tiles) {
  const std::int64_t outputs = mathematics::cnn_layer_winograd_tiles(problem, sum_roundings(problem, device)).front();
  const std::int64_t side = outputs + problem.filter_height - 1;
  return with_layout({.m = problem.output_channels,
                      .n = tiles,
                      .k = problem.input_channels,
                      .transpose_a = true,
                      .batch = side * side});
}

/// Without a shape, as far as it does not depend on one.
CnnLayerWinogradForm form_of(const CnnLayer& problem, const OpenclDevice& device,
                             const GemmSplitShape* shape = nullptr) {
  constexpr std::int64_t kItems = 128, kLargestTile = 128;
  CnnLayerWinogradForm form;
  form.items = kItems;
  form.tiles_unit = shape != nullptr ? shape->tile_n() : kLargestTile;
  form.channels_unit = gemm_split_steps({.k = 1}) * GemmSplitShape::kBlock;
  form.outputs_unit = GemmSplitShape::kBlock;
  form.panel = round_up(problem.output_channels, shape != nullptr ? shape->tile_m() : kLargestTile);
  form.note_bytes = kGemmSplitNoteBytes;
  form.in_blocks = true;
  form.chunk_bytes = cnn_layer_winograd_chunk_bytes(device.facts());
  form.of_sums = shape != nullptr ? sum_roundings(problem, *shape) : sum_roundings(problem, device);
  return form;
}

/// Of the copies that are multiplied: weights in prepared memory, pixels in the workspace.
GemmSplitPlan copies_of(const CnnLayerWinogradPlan& plan, const GemmSplitShape& shape) {
  GemmSplitPlan copies{};
  copies.steps = gemm_split_steps(plan.product());
  copies.a_rows = plan.scalars.panel;
  copies.b_rows = plan.scalars.leading;
  copies.a_matrices = plan.points;
  copies.b_matrices = plan.points;
  copies.a_notes = plan.points * copies.a_rows * copies.steps * kGemmSplitRowStepBytes;
  copies.batch = plan.points;
  copies.band = static_cast<cl_int>(gemm_split_band(shape, copies.a_rows));
  return copies;
}

OperatorLaunch preparation_launch(const CnnLayerWinogradPlan& plan, const OpenclDevice& device,
                                  const GemmSplitShape& shape) {
  constexpr std::size_t kPrepared = 1;
  GemmSplitPlan weights_alone = copies_of(plan, shape);
  weights_alone.b_matrices = 0;
  return launch_of_split_preparation(
      plan.product(), device, shape, weights_alone,
      {plan.in_workspace(0), plan.in_workspace(0), {.place = kPrepared, .type = DataType::uint8}});
}

OperatorLaunch input_launch(const CnnLayerWinogradPlan& plan, const OpenclDevice& device, const GemmSplitShape& shape) {
  CnnLayerWinogradPlan of_group = plan;
  of_group.form.items = kBlock * kBlock;
  OperatorLaunch launch;
  launch.kernel = device.kernel(of_group.program("cnn_layer_winograd_split_input",
                                                 embedded::cnn_layer_winograd_split_input, shape.prepare_options()));
  const auto items = static_cast<std::size_t>(of_group.form.items);
  const auto groups = static_cast<std::size_t>(ceil_div(plan.scalars.chunk, kBlock * kBlock / plan.outputs) +
                                               plan.scalars.leading / kBlock * (plan.padded_channels / kBlock));
  launch.range = {1, {groups * items, 1, 1}, {items, 1, 1}};
  launch.memory = {{.place = kCnnInput, .type = DataType::float32}, CnnLayerWinogradPlan::workspace()};
  launch.set_structs(cnn_layer_shape(plan.problem), plan.scalars);
  return launch;
}

OperatorLaunch products_launch(const CnnLayerWinogradPlan& plan, const OpenclDevice& device,
                               const GemmSplitShape& shape) {
  Gemm product = plan.product();
  product.stride_c = plan.scalars.product_matrix;
  GemmSplitPlan copies = copies_of(plan, shape);
  copies.b_panels = plan.scalars.transformed_at;
  copies.products = plan.scalars.products_at;
  OperatorLaunch launch;
  launch.kernel = device.kernel(gemm_split_program("cnn_layer_winograd_split_products",
                                                   embedded::cnn_layer_winograd_split_products, product, shape));
  const auto items = static_cast<std::size_t>(shape.items());
  const auto groups =
      static_cast<std::size_t>(plan.points * (copies.a_rows / shape.tile_m()) * (copies.b_rows / shape.tile_n()));
  launch.range = {1, {groups * items, 1, 1}, {items, 1, 1}};
  launch.memory = {{.place = kCnnWeights, .type = DataType::uint8}, CnnLayerWinogradPlan::workspace()};
  set_gemm_structs(launch, product, copies);
  return launch;
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  const GemmSplitShape& shape = gemm_split_shape(tuning, device);
  CnnLayerWinogradPlan plan(problem, form_of(problem, device, &shape), tuning.at("tile"), tuning.at("chunk"));
  plan.scalars.doubt_of_largest = static_cast<float>(
      mathematics::cnn_layer_winograd_doubt_of_largest(problem, plan.outputs, sum_roundings(problem, shape)));
  plan.scalars.growth_power = mathematics::cnn_layer_winograd_growth_power(problem, plan.outputs);
  CnnLayerWinogradSteps steps;
  steps.preparation = preparation_launch(plan, device, shape);
  steps.transform = input_launch(plan, device, shape);
  steps.multiply = products_launch(plan, device, shape);
  steps.transform_tells_doubts = true;
  return make_cnn_layer_winograd(plan, device, std::move(steps));
}

Verdict check(const CnnLayer& problem, const backend::Device& device) {
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no(
        "the accuracy of cnn_layer is strict, but winograd_split makes each product from three of shorter numbers");
  }
  if (problem.type != DataType::float32) {
    return Verdict::no(
        sentence("type of cnn_layer is ", to_string(problem.type), ", but winograd_split takes float32"));
  }
  const DeviceFacts& facts = native(device).facts();
  if (Verdict verdict = check_gemm_split_device(facts); !verdict) return verdict;
  return check_cnn_layer_winograd(problem, native(device), form_of(problem, native(device)));
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  std::vector<Tunable> tunables = cnn_layer_winograd_tunables(problem, form_of(problem, native(device)));
  const Gemm product = product_of(problem, native(device), tunables.back().preferred);
  for (Tunable& tunable : gemm_split_tunables(product, native(device))) {
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

/// Wherever winograd does: its transforms split on the way, so that little is left of what makes gemm's split pay late.
/// On an H100 64 channels to 64, 3 x 3, 56 x 56, on eight images take 42 us against 55 of winograd, 256 to 512 on
/// 28 x 28 38 against 54.
Verdict pays(const CnnLayer& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  return cnn_layer_winograd_pays(problem, device, form_of(problem, device));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_winograd_split() {
  return {
      .name = "winograd_split",
      .summary =
          "winograd with its products by fp16 tensor cores, each factor as a sum of two; the same error bound, and the "
          "same tiles that are computed directly",
      .check = check,
      .tunables = tunables,
      .make = make,
      .error_factor_of =
          [](const CnnLayer& problem, const backend::Device& device) {
            const double of_sums = sum_roundings(problem, native(device));
            return mathematics::cnn_layer_winograd_factor(
                problem, mathematics::cnn_layer_winograd_tiles(problem, of_sums).front(), of_sums);
          },
      .pays = pays,
      .error_factor_with =
          [](const CnnLayer& problem, const backend::Device& device, const Tuning& tuning) {
            return mathematics::cnn_layer_winograd_factor(
                problem, tuning.at("tile"), sum_roundings(problem, gemm_split_shape(tuning, native(device))));
          },
  };
}

}  // namespace tessera::opencl
