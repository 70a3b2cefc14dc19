// The variant "winograd": products by gemm's register_panels on processors and by its register_local on other devices.
#include "ops/cnn_layer/cnn_layer_winograd.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/division.h"
#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_register_panels.h"

namespace tessera::opencl {

namespace {

using backend::Verdict;
using mathematics::round_up;

/// A product like those of the layer, to ask gemm about.
Gemm like_product(const CnnLayer& problem) {
  constexpr std::int64_t kTiles = 256;
  const std::int64_t outputs = mathematics::cnn_layer_winograd_tiles(problem).front();
  const std::int64_t side = outputs + problem.filter_height - 1;
  return with_layout({.m = problem.output_channels,
                      .n = kTiles,
                      .k = problem.input_channels,
                      .type = problem.type,
                      .transpose_a = true,
                      .batch = side * side});
}

bool takes_panels(const CnnLayer& problem, const OpenclDevice& device) {
  return device.facts().info.kind == DeviceKind::cpu || !check_register_local(like_product(problem), device);
}

CnnLayerWinogradForm form_of(const CnnLayer& problem, const OpenclDevice& device) {
  constexpr std::int64_t kChannelsOfGroup = 8, kMostItems = 128, kVector = 4;
  const DeviceFacts& facts = device.facts();
  CnnLayerWinogradForm form;
  if (takes_panels(problem, device)) {
    const PanelShape shape = preferred_panel_shape(like_product(problem), facts);
    form.width = shape.width;
    form.channels_of_group = kChannelsOfGroup;
    form.tiles_unit = shape.work_n;
    form.panel = shape.work_m;
  } else {
    while (2 * form.items <= kMostItems && static_cast<std::uint64_t>(2 * form.items) <= facts.info.max_group_size) {
      form.items *= 2;
    }
    form.tiles_unit = kVector;
    form.panel = round_up(problem.output_channels, kVector);
    form.chunk_bytes = cnn_layer_winograd_chunk_bytes(facts);
  }
  return form;
}

OperatorLaunch input_launch(const CnnLayerWinogradPlan& plan, const OpenclDevice& device) {
  const CnnLayerWinogradForm& form = plan.form;
  OperatorLaunch launch;
  launch.kernel = device.kernel(plan.program("cnn_layer_winograd_input", embedded::cnn_layer_winograd_input));
  const auto items = static_cast<std::size_t>(form.items);
  const auto groups = static_cast<std::size_t>(ceil_div(plan.scalars.leading, form.items * form.width) *
                                               ceil_div(plan.problem.input_channels, form.channels_of_group));
  launch.range = {1, {groups * items, 1, 1}, {items, 1, 1}};
  launch.memory = {{.place = kCnnInput, .type = plan.problem.type}, plan.in_workspace(plan.scalars.transformed_at)};
  launch.set_structs(cnn_layer_shape(plan.problem), plan.scalars);
  return launch;
}

OperatorLaunch products_launch(const CnnLayerWinogradPlan& plan, const OpenclDevice& device) {
  std::vector<MemoryArgument> memory{{.place = kCnnWeights, .type = plan.problem.type},
                                     plan.in_workspace(plan.scalars.transformed_at),
                                     plan.in_workspace(plan.scalars.products_at)};
  if (!takes_panels(plan.problem, device)) return launch_of_register_local(plan.product(), device, std::move(memory));
  const PanelShape shape = preferred_panel_shape(like_product(plan.problem), device.facts());
  return launch_of_register_panels(plan.product(), device, shape, std::move(memory));
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  const CnnLayerWinogradPlan plan(problem, form_of(problem, device), tuning.at("tile"), tuning.at("chunk"));
  CnnLayerWinogradSteps steps;
  steps.transform = input_launch(plan, device);
  steps.multiply = products_launch(plan, device);
  return make_cnn_layer_winograd(plan, device, std::move(steps));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_winograd() {
  return {
      .name = "winograd",
      .summary =
          "transformed tiles, 2.8 to 6.3 times fewer products by gemm's kernels, a 2 x 2 pool within the tile; tiles "
          "that pixels beside a window would spoil are computed directly",
      .check = [](const CnnLayer& problem, const backend::Device& device) -> Verdict {
        if (Verdict verdict = mathematics::cnn_layer_winograd_check_any(problem); !verdict) return verdict;
        if (Verdict verdict = check_cnn_layer_type(problem, native(device).facts()); !verdict) return verdict;
        return check_cnn_layer_winograd(problem, native(device), form_of(problem, native(device)));
      },
      .tunables =
          [](const CnnLayer& problem, const backend::Device& device) {
            return cnn_layer_winograd_tunables(problem, form_of(problem, native(device)));
          },
      .make = make,
      .error_factor_of =
          [](const CnnLayer& problem, const backend::Device&) {
            return mathematics::cnn_layer_winograd_factor(problem,
                                                          mathematics::cnn_layer_winograd_tiles(problem).front());
          },
      .pays =
          [](const CnnLayer& problem, const backend::Device& device) {
            return cnn_layer_winograd_pays(problem, native(device), form_of(problem, native(device)));
          }};
}

}  // namespace tessera::opencl
