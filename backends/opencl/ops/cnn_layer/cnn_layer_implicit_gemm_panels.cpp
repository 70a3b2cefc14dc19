// cnn_layer, implicit_gemm_panels: a product of matrices in registers, from panels of weights. The row, its shapes, the
// copy with padding, and the launches. See cnn_layer_implicit_gemm_panels.cl.
#include <algorithm>
#include <limits>
#include <utility>

#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/gemm/gemm_local_tile.h"

namespace tessera::opencl {

namespace {

/// What cnn_layer_implicit_gemm_panels.cl leaves open.
struct Shape {
  std::int64_t width;    ///< of a vector register
  std::int64_t vectors;  ///< of output channels
  std::int64_t half;     ///< columns of half a tile, even

  [[nodiscard]] std::int64_t panel() const { return width * vectors; }
  [[nodiscard]] std::int64_t outputs_of_tile(bool pooled) const { return pooled ? half / 2 : 2 * half; }
};

/// As many columns as leave registers for a row of weights and a pixel: processors with vectors of 64 bytes have 32,
/// others at least 16.
Shape shape_of(std::int64_t tile, DataType type, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(type));
  const std::int64_t vectors = tile / width;
  const std::int64_t sums = facts.vector_bytes == 64 ? 24 : 12;
  return {width, vectors, std::max<std::int64_t>(sums / (2 * vectors) / 2 * 2, 2)};
}

/// Rows of cnn_layer_implicit_gemm_panels.cl.
struct CnnLayerRows {
  cl_long image_step, row_step, sum_step;
  cl_long rows;
  cl_long tiles_of_row, tiles_of_group;
};
static_assert(sizeof(CnnLayerRows) == 48, "cnn_layer_implicit_gemm_panels.cl says so too");

/// Pad of cnn_layer_pad.cl.
struct CnnLayerPad {
  cl_long all_rows;
  cl_long rows, row_length;
  cl_long copied_rows, copied_length;
  cl_long top, left;
};
static_assert(sizeof(CnnLayerPad) == 56, "cnn_layer_pad.cl says so too");

/// The images that tiles read: those given, or a copy with room around them.
struct ReadImages {
  ReadImages(const CnnLayer& p, const ProductPlan& plan, const Shape& shape)
      : given(cnn_layer_shape(p)),
        has_channels_inside(p.layout == Layout::nhwc && p.input_channels > 1),
        height(p.height),
        width(p.width) {
    const bool is_narrow = plan.row_windows < shape.outputs_of_tile(plan.pooled);
    const std::int64_t sums_of_row = plan.pooled ? 2 * plan.row_windows : plan.row_windows;
    stride = sums_of_row == 1 ? 0 : p.stride;  // one sum beside itself: what the others read does not count
    is_copied = p.padding > 0 || is_narrow;
    if (!is_copied) return;
    const std::int64_t sums_of_tile = plan.pooled ? shape.half : 2 * shape.half;
    height += 2 * p.padding;
    width += 2 * p.padding;
    if (is_narrow) width = std::max(width, (sums_of_tile - 1) * stride + p.filter_width);
  }
  [[nodiscard]] std::int64_t row_step() const { return width * given.input_pixel; }
  [[nodiscard]] std::int64_t channel_step() const { return has_channels_inside ? 1 : height * width; }
  [[nodiscard]] std::int64_t image_step() const { return given.input_channels * height * width; }

  CnnLayerShape given;
  bool has_channels_inside;  ///< the channels of a pixel lie beside each other
  std::int64_t height;
  std::int64_t width;
  std::int64_t stride;
  bool is_copied;
};

CnnWeightsForm form_of(const CnnLayer& problem, const Shape& shape, const ReadImages& images) {
  CnnWeightsForm form = cnn_weights_form(problem);
  form.panel = shape.panel();
  form.panels = ceil_div(problem.output_channels, form.panel);
  form.channel_step = images.channel_step();
  form.row_step = images.row_step();
  if (images.has_channels_inside) form.chunk = problem.input_channels;
  return form;
}

/// Tiles that one group computes: rows whole, unless that leaves too few groups.
std::int64_t tiles_of_group(std::int64_t tiles_of_row, std::int64_t other_groups, const DeviceFacts& facts) {
  constexpr std::int64_t kMostTiles = 64;
  constexpr std::int64_t kGroupsForEachUnit = 8;
  const std::int64_t wanted = kGroupsForEachUnit * static_cast<std::int64_t>(facts.info.compute_units);
  const std::int64_t runs = ceil_div(wanted, std::max<std::int64_t>(other_groups, 1));
  return std::clamp<std::int64_t>(tiles_of_row / runs, 1, kMostTiles);
}

OperatorLaunch pad_launch(const CnnLayer& pass, const OpenclDevice& device, const ReadImages& images,
                          std::int64_t first_image) {
  const std::int64_t pixel = images.given.input_pixel;
  const std::int64_t planes = pass.batch * (images.has_channels_inside ? 1 : pass.input_channels);
  OperatorLaunch launch;
  launch.kernel = device.kernel(cnn_layer_program("cnn_layer_pad", embedded::cnn_layer_pad, pass));
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(planes * images.height));
  launch.memory = {from_image(kCnnInput, pass, first_image), {.place = MemoryArgument::kWorkspace, .type = pass.type}};
  launch.set_structs(CnnLayerPad{.all_rows = planes * images.height,
                                 .rows = pass.height,
                                 .row_length = pass.width * pixel,
                                 .copied_rows = images.height,
                                 .copied_length = images.width * pixel,
                                 .top = pass.padding,
                                 .left = pass.padding * pixel});
  return launch;
}

backend::Verdict check_tile(const CnnLayer& problem, const OpenclDevice& device, std::int64_t tile_m) {
  using backend::Verdict;
  // Offsets within an image are numbers of 32 bits. The image's size is estimated in double, which cannot overflow.
  constexpr double kMostElements = std::numeric_limits<std::int32_t>::max();
  const std::string with = "cnn_layer with tile_m = " + std::to_string(tile_m);
  const Shape shape = shape_of(tile_m, problem.type, device.facts());
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double padding = 2 * number(problem.padding);
  const double reach = number(2 * shape.half) * number(problem.stride) + number(problem.filter_width);
  const bool is_one_wide = problem.convolved_width() == 1;
  const double elements = number(problem.input_channels) * (number(problem.height) + padding) *
                          (number(problem.width) + padding + (is_one_wide ? 0 : reach));
  if (elements > kMostElements) {
    return Verdict::no(with + " numbers the elements of a padded image up to " +
                       std::to_string(std::numeric_limits<std::int32_t>::max()) + ", but the input needs " +
                       std::to_string(elements));
  }
  // The most groups that there can be: one for each sum before the pool.
  const double groups = number(problem.batch) * number(problem.output_channels) * number(problem.convolved_height()) *
                        number(problem.convolved_width());
  return check_groups(with, static_cast<std::uint64_t>(groups));
}

std::vector<std::int64_t> tiles_of(const CnnLayer& problem, const OpenclDevice& device) {
  std::vector<std::int64_t> tiles = implicit_gemm_panels(problem, device.facts());
  std::erase_if(tiles, [&](std::int64_t tile_m) { return !check_tile(problem, device, tile_m); });
  return tiles;
}

backend::Verdict check(const CnnLayer& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  if (backend::Verdict verdict = check_cnn_layer_type(problem, opencl.facts()); !verdict) return verdict;
  if (!tiles_of(problem, opencl).empty()) return backend::Verdict::yes();
  return check_tile(problem, opencl,
                    2 * static_cast<std::int64_t>(opencl.facts().vector_bytes / size_bytes(problem.type)));
}

backend::Verdict pays(const CnnLayer& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  return pays_without_local_memory(opencl.facts().info, check_implicit_gemm_local(problem, opencl));
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  const std::vector<std::int64_t> tiles = tiles_of(problem, opencl);
  const ImplicitGemmTuning best = choose_implicit_gemm_panels(problem, opencl.facts(), tiles);
  return {{.name = "tile_m",
           .meaning = "output channels that a work-item computes",
           .values = tiles,
           .preferred = best.tile_m},
          split_k_tunable(best)};
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  const DeviceFacts& facts = device.facts();
  const Shape shape = shape_of(tuning.at("tile_m"), problem.type, facts);
  const ProductPlan plan(problem, tuning.at("split_k"), 1);
  const ReadImages images(problem, plan, shape);
  const CnnWeightsForm form = form_of(problem, shape, images);
  const ProgramSource source =
      cnn_layer_program("cnn_layer_implicit_gemm_panels", embedded::cnn_layer_implicit_gemm_panels, problem,
                        " -DWIDTH=" + std::to_string(shape.width) + " -DVECTORS=" + std::to_string(shape.vectors) +
                            " -DHALF=" + std::to_string(shape.half));

  // The workspace: the copy, then the sums.
  const std::int64_t copied_of_image = images.is_copied ? images.image_step() : 0;
  const auto bytes_of_image =
      static_cast<std::size_t>(copied_of_image + plan.parts * plan.sums_of_image) * size_bytes(problem.type);
  std::vector<OperatorLaunch> launches;
  for_each_pass(problem, bytes_of_image, [&](std::int64_t first_image, const CnnLayer& pass) {
    const std::int64_t first_sum = pass.batch * copied_of_image;
    CnnLayerProduct product = plan.product(pass, pass.batch);
    product.panel = form.panel;
    product.channel_blocks = form.panels;
    CnnLayerRows rows{.image_step = images.image_step(),
                      .row_step = problem.stride * images.row_step(),
                      .sum_step = images.stride * images.given.input_pixel,
                      .rows = plan.rows,
                      .tiles_of_row = ceil_div(plan.row_windows, shape.outputs_of_tile(plan.pooled)),
                      .tiles_of_group = 1};
    const std::int64_t lines = plan.rows * pass.batch * form.panels * plan.parts;
    rows.tiles_of_group = tiles_of_group(rows.tiles_of_row, lines, facts);
    const auto groups = static_cast<std::size_t>(lines * ceil_div(rows.tiles_of_row, rows.tiles_of_group));

    if (images.is_copied) launches.push_back(pad_launch(pass, device, images, first_image));
    OperatorLaunch launch;
    launch.kernel = device.kernel(source);
    launch.range = {1, {groups, 1, 1}, {1, 1, 1}};
    launch.memory = cnn_layer_operands(problem);
    launch.memory[kCnnInput] = from_image(kCnnInput, problem, first_image);
    if (images.is_copied) launch.memory[kCnnInput] = {.place = MemoryArgument::kWorkspace, .type = problem.type};
    launch.memory[kCnnOutput] = from_image(kCnnOutput, problem, first_image);
    if (plan.is_part) {
      launch.memory[kCnnOutput] = {.place = MemoryArgument::kWorkspace,
                                   .type = problem.type,
                                   .first_element = static_cast<std::uint64_t>(first_sum)};
    }
    launch.set_structs(cnn_layer_shape(pass), product, rows);
    launches.push_back(std::move(launch));
    if (plan.is_part) launches.push_back(finish_launch(pass, device, plan, first_image, first_sum));
  });
  return std::make_unique<OpenclKernel>(
      std::move(launches), static_cast<std::size_t>(images_of_pass(problem, bytes_of_image)) * bytes_of_image,
      prepare_cnn_weights(problem, device, form));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_implicit_gemm_panels() {
  return {
      .name = "implicit_gemm_panels",
      .summary = "a product of matrices in vector registers, from panels of weights, bias, ReLU and pool on the sums",
      .check = check,
      .tunables = tunables,
      .make = make,
      .pays = pays};
}

}  // namespace tessera::opencl
