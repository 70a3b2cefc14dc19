// How a layer is cut for Winograd's algorithm, its programs' options, and which layers and devices it takes.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::kWinogradMatrices;
using mathematics::round_up;

/// The fewest tiles of a chunk that are offered.
constexpr std::int64_t kSmallestChunk = 64;

/// Hands out places in a piece of memory, one after the other, as far apart as any type or vector needs.
class Places {
 public:
  std::int64_t take(std::int64_t bytes) { return std::exchange(end_, end_ + round_up<std::int64_t>(bytes, 256)); }
  [[nodiscard]] std::size_t end() const { return static_cast<std::size_t>(end_); }

 private:
  std::int64_t end_ = 0;
};

/// How many tiles the sums of an image take, and those of a row of them.
struct Tiles {
  Tiles(const CnnLayer& p, bool pooled, std::int64_t outputs)
      : rows(ceil_div(pooled ? 2 * p.output_height() : p.convolved_height(), outputs)),
        columns(ceil_div(pooled ? 2 * p.output_width() : p.convolved_width(), outputs)) {}
  std::int64_t rows, columns;
};

bool is_direct_of(const CnnLayer& problem) {
  return problem.pool_size == 1 || has_plain_pool(problem);
}

/// Numbers as the kernels' compiler reads them without loss.
template <class Matrix>
std::string numbers_of(const Matrix& matrix, const char* suffix) {
  std::ostringstream text;
  text << std::hexfloat;
  const char* comma = "";
  for (const auto& row : matrix) {
    for (const auto& number : row) {
      text << comma << number.value() << suffix;
      comma = ",";
    }
  }
  return text.str();
}

/// Bit i: numbers i and i + 1 along one direction of the matrix are the same but for the sign of every second one.
template <class At>
int pairs_of(std::int64_t count, std::int64_t length, const At& at) {
  int pairs = 0;
  for (std::int64_t i = 1; i + 2 < count; i += 2) {
    bool is_pair = true;
    for (std::int64_t j = 0; j < length; ++j) is_pair = is_pair && at(i + 1, j) == (j % 2 == 0 ? 1 : -1) * at(i, j);
    if (is_pair) pairs |= 1 << i;
  }
  return pairs;
}

template <int kOutputs, int kTaps>
std::string options_of(std::string_view text, bool is_double) {
  constexpr auto& matrices = kWinogradMatrices<kOutputs, kTaps>;
  const char* const suffix = is_double ? "" : "f";
  std::string options = sentence(" -DOUTPUTS=", kOutputs, " -DFILTER=", kTaps);
  const auto needs = [&](std::string_view name) { return text.find(name) != std::string_view::npos; };
  if (needs("FILTER_MATRIX")) options += " -DFILTER_MATRIX=" + numbers_of(matrices.filter, "");
  if (needs("GROWTH_MATRIX")) options += " -DGROWTH_MATRIX=" + numbers_of(matrices.growth(), suffix);
  if (needs("INPUT_MATRIX")) {
    const int pairs = pairs_of(matrices.kSize, matrices.kSize,
                               [&](std::int64_t i, std::int64_t j) { return matrices.input[i][j].value(); });
    options += sentence(" -DINPUT_MATRIX=", numbers_of(matrices.input, suffix), " -DINPUT_PAIRS=", pairs);
  }
  if (needs("OUTPUT_MATRIX")) {
    const int pairs = pairs_of(matrices.kSize, kOutputs,
                               [&](std::int64_t i, std::int64_t k) { return matrices.output[k][i].value(); });
    options += sentence(" -DOUTPUT_MATRIX=", numbers_of(matrices.output, suffix), " -DOUTPUT_PAIRS=", pairs);
  }
  return options;
}

}  // namespace

CnnLayerWinogradPlan::CnnLayerWinogradPlan(const CnnLayer& layer, const CnnLayerWinogradForm& its_form,
                                           std::int64_t outputs_of_tile, std::int64_t wanted_chunk)
    : problem(layer),
      form(its_form),
      outputs(outputs_of_tile),
      points((outputs_of_tile + layer.filter_height - 1) * (outputs_of_tile + layer.filter_height - 1)),
      is_direct(is_direct_of(layer)),
      image_sums(is_direct ? 0 : layer.output_channels * layer.convolved_height() * layer.convolved_width()),
      padded_channels(round_up(layer.input_channels, form.channels_unit)),
      padded_outputs(round_up(layer.output_channels, form.outputs_unit)) {
  const auto element = static_cast<std::int64_t>(size_bytes(layer.type));
  const bool pooled = is_direct && layer.pool_size == 2;
  const Tiles tiles(layer, pooled, outputs);
  const std::int64_t image_tiles = tiles.rows * tiles.columns;
  const std::int64_t pixels = layer.height * layer.width;
  constexpr std::int64_t kTileBytes = 1 + sizeof(cl_int);  // doubt and shift
  const std::int64_t image_bytes = (image_sums + pixels) * element + image_tiles * kTileBytes;
  const std::int64_t batch = std::max<std::int64_t>(layer.batch, 1);
  scalars.images = std::clamp<std::int64_t>(kMostWorkspaceBytes / image_bytes, 1, batch);
  passes = ceil_div(layer.batch, scalars.images);

  // Chunks of one size, as nearly as the unit allows.
  const std::int64_t pass_tiles = scalars.images * image_tiles;
  scalars.chunk = round_up(ceil_div(pass_tiles, ceil_div(pass_tiles, wanted_chunk)), form.tiles_unit);
  scalars.chunks = ceil_div(pass_tiles, scalars.chunk);
  scalars.image_tiles = image_tiles;
  scalars.row_tiles = tiles.columns;
  scalars.channels_of_group = form.channels_of_group;
  scalars.leading = scalars.chunk;
  // Rows a multiple of a page apart fall into few sets of the first-level cache.
  if (form.width > 1 && scalars.leading * element % 4096 == 0) scalars.leading += form.tiles_unit;
  scalars.input_matrix = padded_channels * scalars.leading;
  scalars.product_matrix = padded_outputs * scalars.leading;
  scalars.panel = form.panel;
  scalars.panels = ceil_div(layer.output_channels, form.panel);

  const CnnLayerShape shape = cnn_layer_shape(layer);
  const std::int64_t plane = layer.convolved_height() * layer.convolved_width();
  scalars.target_image = is_direct ? shape.output_image : image_sums;
  scalars.target_channel = is_direct ? shape.output_channel : plane;
  scalars.target_pixel = is_direct ? shape.output_pixel : 1;
  scalars.target_height = is_direct ? layer.output_height() : layer.convolved_height();
  scalars.target_width = is_direct ? layer.output_width() : layer.convolved_width();
  // For all types in float32, so rounded down.
  const double limit = mathematics::cnn_layer_winograd_limit(layer, outputs, form.of_sums);
  scalars.limit = std::nextafter(static_cast<float>(limit), 0.0F);
  scalars.pooled = pooled ? 1 : 0;
  scalars.is_part = is_direct ? 0 : 1;

  Places workspace;
  workspace.take(scalars.images * image_sums * element);
  scalars.magnitudes_at = workspace.take(scalars.images * pixels * element);
  scalars.doubts_at = workspace.take(scalars.chunks * scalars.chunk);
  scalars.shifts_at = workspace.take(scalars.chunks * scalars.chunk * static_cast<std::int64_t>(sizeof(cl_int)));
  scalars.transformed_at = workspace.take(points * scalars.input_matrix * element);
  scalars.products_at = workspace.take(points * scalars.product_matrix * element);
  workspace_bytes = std::max(workspace.end(), static_cast<std::size_t>(weight_elements() * element));

  Places prepared;
  prepared.take(weight_elements() * element + points * scalars.panel * scalars.panels * form.note_bytes);
  plain_weights_at = static_cast<std::size_t>(
      prepared.take(layer.output_channels * layer.input_channels * layer.filter_height * layer.filter_width * element));
  prepared_bytes = prepared.end();
}

Gemm CnnLayerWinogradPlan::product() const {
  return with_layout({.m = problem.output_channels,
                      .n = scalars.chunk,
                      .k = problem.input_channels,
                      .type = problem.type,
                      .transpose_a = true,
                      .lda = scalars.panel * scalars.panels,
                      .ldb = scalars.leading,
                      .ldc = scalars.leading,
                      .batch = points});
}

ProgramSource CnnLayerWinogradPlan::program(std::string name, std::string_view text,
                                            const std::string& more_options) const {
  const bool is_double = problem.type == DataType::float64;
  const std::string options = problem.filter_height == 3 ? options_of<4, 3>(text, is_double)
                              : outputs == 4             ? options_of<4, 5>(text, is_double)
                                                         : options_of<2, 5>(text, is_double);
  return cnn_layer_program(std::move(name), text, problem,
                           sentence(options, " -DWIDTH=", form.width, " -DITEMS=", form.items, more_options));
}

Verdict check_cnn_layer_winograd(const CnnLayer& problem, const OpenclDevice& device,
                                 const CnnLayerWinogradForm& form) {
  const DeviceFacts& facts = device.facts();
  if (Verdict verdict = mathematics::cnn_layer_winograd_check_any(problem, form.of_sums); !verdict) return verdict;
  if (!facts.info.has_float64) {
    return Verdict::no(
        sentence("winograd transforms weights in float64, but '", facts.info.name, "' computes in float32 at most"));
  }
  // In double, which cannot overflow: of the largest tile's points, with the smallest chunk.
  constexpr double kMostNumber = 1 << 30;
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double side =
      number(mathematics::cnn_layer_winograd_tiles(problem, form.of_sums).front()) + number(problem.filter_height) - 1;
  const double element = number(static_cast<std::int64_t>(size_bytes(problem.type)));
  const double channels = number(problem.input_channels) + number(form.channels_unit);
  const double outputs = number(problem.output_channels) + number(std::max(form.outputs_unit, form.panel));
  const double tiles = number(kSmallestChunk + 2 * form.tiles_unit);
  const double image = number(problem.height) * number(problem.width) +
                       (is_direct_of(problem) ? 0
                                              : number(problem.output_channels) * number(problem.convolved_height()) *
                                                    number(problem.convolved_width()));
  const double weights = element * side * side * channels * outputs * 2;
  const double workspace = element * (side * side * (channels + outputs) * tiles + 2 * image);
  const auto most = number(static_cast<std::int64_t>(facts.info.max_allocation_bytes));
  if (weights > most || workspace > most) {
    return Verdict::no(sentence("winograd needs up to ", std::max(weights, workspace), " bytes in one piece, but '",
                                facts.info.name, "' gives ", facts.info.max_allocation_bytes, " at most"));
  }
  // Kernels number in 32 bits: rows and columns, the pixels of a plane, tiles of all images with a chunk more for each,
  // and a channel's places. A chunk's groups are fewer than its bytes.
  const double padding = 2 * number(problem.padding) + 2 * side;
  const double places = channels * number(problem.filter_height * problem.filter_width);
  const double plane = (number(problem.height) + padding) * (number(problem.width) + padding);
  const double all_tiles = number(std::max<std::int64_t>(problem.batch, 1)) * (plane / 4 + tiles);
  for (const auto& [name, count] : {std::pair{"places of the filter in all channels", places},
                                    {"pixels of a plane with its padding", plane},
                                    {"tiles of all images", all_tiles},
                                    {"filters", channels * outputs}}) {
    if (count > kMostNumber) {
      return Verdict::no(sentence("winograd numbers ", name, " up to ", kMostNumber, ", but there are ", count));
    }
  }
  return Verdict::yes();
}

std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem, const CnnLayerWinogradForm& form) {
  const std::vector<std::int64_t> sides = mathematics::cnn_layer_winograd_tiles(problem, form.of_sums);
  const std::int64_t outputs = sides.front();
  const std::int64_t side = outputs + problem.filter_height - 1;
  const Tiles tiles(problem, is_direct_of(problem) && problem.pool_size == 2, outputs);
  const std::int64_t all = std::max<std::int64_t>(problem.batch, 1) * tiles.rows * tiles.columns;
  const std::int64_t tile_bytes =
      side * side *
      (round_up(problem.input_channels, form.channels_unit) + round_up(problem.output_channels, form.outputs_unit)) *
      static_cast<std::int64_t>(size_bytes(problem.type));
  Tunable chunk{"chunk", "tiles that are transformed, multiplied and transformed back at once", {}, kSmallestChunk};
  for (std::int64_t count = kSmallestChunk;; count *= 2) {
    if (count > kSmallestChunk && count * tile_bytes > form.chunk_bytes) break;
    chunk.values.push_back(count);
    chunk.preferred = count;
    if (count >= all) break;
  }
  return {{"tile", "rows and columns of outputs of a tile: fewer are more exact", sides, outputs}, chunk};
}

}  // namespace tessera::opencl
