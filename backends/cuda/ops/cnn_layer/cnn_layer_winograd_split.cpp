// The variant "winograd_split": products by the fp16 tensor cores of Hopper, as gemm's split makes them. Pixels are
// transformed straight into the panels that are multiplied, and weights are prepared as gemm prepares its A.
#include <algorithm>

#include "cuda_embedded.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/cnn_layer_winograd_split.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/cnn_layer/cnn_layer_winograd_products.h"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_split_choice.h"
#include "ops/gemm/gemm_split_launch.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::round_up;
using mathematics::WinogradTileShape;

/// Chunks of channels that a block transforms, and where it reads ahead, if that leaves so many blocks for each
/// multiprocessor.
constexpr std::int64_t kMostChunks = 2, kMostChunksAhead = 3, kBlocksOfMultiprocessor = 8;

class SplitProducts final : public CnnLayerWinogradProducts {
 public:
  SplitProducts(CudaDevice& device, const CnnLayerWinogradSizes& sizes, const GemmSplitShape& shape)
      : card_(device.context()->limits()),
        is_down_(transforms_products_down(shape)),
        points_(sizes.tiling.points),
        points_of_row_(static_cast<int>(sizes.tiling.row_points)),
        block_rows_(shape.tile_n),
        matrix_bytes_(sizes.problem.input_channels * sizes.leading_outputs * std::int64_t{sizeof(float)}),
        outputs_(sizes.problem.output_channels),
        transform_(device.context(), embedded::cnn_layer_winograd_split,
                   winograd_function("winograd_split_input", sizes.tiling, sizes.problem), {}),
        transform_back_(device.context(), embedded::cnn_layer_winograd_split,
                        winograd_function(is_down_ ? "winograd_split_across" : "winograd_split_output", sizes.tiling,
                                          sizes.problem),
                        {}) {
    const std::string products = is_down_
                                     ? sentence("tessera_cnn_layer_winograd_split_columns_",
                                                sizes.tiling.shape.outputs_y, "_", sizes.problem.filter_height, "_")
                                     : "tessera_cnn_layer_winograd_split_products_";
    stored_points_ = is_down_ ? sizes.tiling.shape.outputs_y * sizes.tiling.row_points : points_;
    growth_power_ = mathematics::cnn_layer_winograd_growth_power(sizes.problem, sizes.tiling.shape);
    doubt_of_largest_ = static_cast<float>(mathematics::cnn_layer_winograd_doubt_of_largest(
        sizes.problem, sizes.tiling.shape, winograd_split_roundings(sizes.problem, shape)));
    for (const std::int64_t tiles : sizes.chunks) {
      launches_.push_back(
          {tiles,
           GemmSplitLaunch(device.context(), winograd_split_product(sizes.problem, sizes.tiling, tiles, sizes.leading),
                           GemmSplitKind::split, tiling_of(shape), {embedded::cnn_layer_winograd_split, products})});
    }
  }

  /// Panels, and behind them notes of weights or shifts of tiles.
  [[nodiscard]] std::size_t weight_bytes() const override {
    const std::int64_t rows = points_ * largest().rows_of_a();
    return static_cast<std::size_t>(largest().panel_bytes(rows) + GemmSplitLaunch::note_bytes(rows));
  }
  [[nodiscard]] std::size_t transformed_bytes() const override {
    return shifts_at(largest()) + static_cast<std::size_t>(largest().rows_of_b()) * sizeof(std::int32_t);
  }
  [[nodiscard]] std::size_t products_bytes() const override {
    return static_cast<std::size_t>(stored_points_ * matrix_sums(largest())) * sizeof(float);
  }
  /// Weights in float32, while they are prepared.
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(points_ * matrix_bytes_);
  }

  void prepare(backend::Queue& queue, const std::function<void(float*)>& transform, const backend::Slice& prepared,
               const backend::Slice& workspace) const override {
    auto* const plain = pointer_to<float>(workspace);
    transform(plain);
    GemmSplitSide weights = largest().side_a(plain);
    weights.panels = pointer_to<unsigned char>(prepared);
    weights.notes = notes_of(prepared);
    largest().prepare(queue, {weights, points_}, {largest().side_b(nullptr), 0});
  }

  void transform(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                 const backend::Slice& transformed) const override {
    const GemmSplitLaunch& launch = launch_of(arguments.tiles);
    CnnLayerWinogradSplitArguments own = arguments_of(arguments, transformed);
    const std::int64_t groups = launch.rows_of_b() / kCnnLayerWinogradSplitTiles;
    const std::int64_t chunks = launch.panels() * (kSplitPlane / kCnnLayerWinogradSplitChannels);
    // A block that takes several chunks finds its tiles' powers once; there must be enough blocks.
    const std::int64_t each =
        std::clamp<std::int64_t>(groups * chunks / (kBlocksOfMultiprocessor * std::int64_t{card_.multiprocessors}), 1,
                                 cnn_layer_winograd_split_reads_ahead(points_) ? kMostChunksAhead : kMostChunks);
    own.shares = static_cast<std::int32_t>(ceil_div(chunks, each));
    LaunchGrid grid = winograd_grid(card_, groups * (own.shares + 1), 1);
    grid.group_size[0] *= static_cast<unsigned>(cnn_layer_winograd_split_parts(points_of_row_));
    transform_.enqueue(queue, own, grid);
  }

  void multiply(backend::Queue& queue, std::int64_t tiles, const backend::Slice& weights,
                const backend::Slice& transformed, const backend::Slice& products,
                const backend::Slice& /*workspace*/) const override {
    const GemmSplitLaunch& launch = launch_of(tiles);
    GemmSplitArguments gemm = launch.arguments(is_down_ ? points_of_row_ : points_);
    gemm.a_panels = pointer_to<const unsigned char>(weights);
    gemm.a_notes = notes_of(weights);
    gemm.b_panels = pointer_to<const unsigned char>(transformed);
    gemm.c = pointer_to<float>(products);
    gemm.ldc = launch.rows_of_b();
    gemm.stride_c = matrix_sums(launch);
    launch.multiply(queue, gemm);
  }

  void transform_back(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                      const backend::Slice& transformed, const backend::Slice& products) const override {
    CnnLayerWinogradSplitArguments own = arguments_of(arguments, transformed);
    own.layer.products = pointer_to<const float>(products);
    transform_back_.enqueue(queue, own,
                            winograd_grid(card_, ceil_div(std::int64_t{arguments.tiles}, kCnnLayerWinogradBlockTiles),
                                          ceil_div(outputs_, kCnnLayerWinogradBlockOutputs)));
  }

 private:
  struct Launch {
    std::int64_t tiles;
    GemmSplitLaunch launch;
  };

  [[nodiscard]] const GemmSplitLaunch& launch_of(std::int64_t tiles) const {
    return std::find_if(launches_.begin(), launches_.end(), [&](const Launch& each) { return each.tiles == tiles; })
        ->launch;
  }
  [[nodiscard]] const GemmSplitLaunch& largest() const { return launches_.front().launch; }
  /// Of one point.
  [[nodiscard]] std::int64_t matrix_sums(const GemmSplitLaunch& launch) const {
    return round_up<std::int64_t>(outputs_, kCnnLayerWinogradBlockOutputs) * launch.rows_of_b();
  }
  [[nodiscard]] std::size_t shifts_at(const GemmSplitLaunch& launch) const {
    return static_cast<std::size_t>(launch.panel_bytes(points_ * launch.rows_of_b()));
  }
  [[nodiscard]] GemmSplitNote* notes_of(const backend::Slice& weights) const {
    const std::int64_t behind_panels = largest().panel_bytes(points_ * largest().rows_of_a());
    return pointer_at<GemmSplitNote>(weights, static_cast<std::size_t>(behind_panels));
  }
  [[nodiscard]] CnnLayerWinogradSplitArguments arguments_of(const CnnLayerWinogradArguments& layer,
                                                            const backend::Slice& transformed) const {
    const GemmSplitLaunch& launch = launch_of(layer.tiles);
    CnnLayerWinogradSplitArguments arguments{layer,
                                             pointer_to<unsigned char>(transformed),
                                             pointer_at<std::int32_t>(transformed, shifts_at(launch)),
                                             launch.rows_of_b(),
                                             matrix_sums(launch),
                                             static_cast<std::int32_t>(launch.panels()),
                                             block_rows_,
                                             growth_power_,
                                             1};
    arguments.layer.doubt_of_largest = doubt_of_largest_;
    return arguments;
  }

  const DeviceLimits& card_;  // lives as long as the function, which owns its context
  bool is_down_;              ///< are products transformed down before they are stored?
  std::int64_t points_;
  std::int64_t stored_points_ = 0;  ///< that the transform back reads
  int points_of_row_;
  std::int32_t block_rows_;
  std::int64_t matrix_bytes_;
  std::int64_t outputs_;
  CudaFunction transform_;
  CudaFunction transform_back_;
  std::int32_t growth_power_ = 0;
  float doubt_of_largest_ = 0;
  std::vector<Launch> launches_;
};

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const std::vector<WinogradTileShape> shapes =
      mathematics::cnn_layer_winograd_shapes(problem, winograd_split_roundings(problem));
  const CnnLayerWinogradTiling tiling(problem, choose_winograd_shape(problem, shapes));
  Tunable rows{"tile", "rows of outputs of a tile: fewer are more exact", {}, tiling.shape.outputs_y};
  Tunable columns{"tile_columns", "columns of outputs of a tile", {}, tiling.shape.outputs_x, "tile"};
  for (const WinogradTileShape shape : shapes) {
    if (rows.values.empty() || rows.values.back() != shape.outputs_y) rows.values.push_back(shape.outputs_y);
    columns.values.push_back(shape.outputs_x);
    columns.pairs.emplace_back(shape.outputs_y, shape.outputs_x);
  }
  Tunable chunk = cnn_layer_winograd_chunk(problem, tiling.shape);
  const GemmSplitShape& preferred =
      choose_winograd_split(problem, tiling, chunk.preferred, native(device).context()->limits());
  Tunable tile_m{"tile_m", "output channels that one group multiplies", {128, 256}, preferred.tile_m()};
  Tunable tile_n{"tile_n", "tiles that it multiplies, and transforms down if 72", {}, preferred.tile_n, "tile_m"};
  for (const GemmSplitShape& shape : kCnnLayerWinogradShapes) {
    if (transforms_products_down(shape) && !winograd_split_may_transform_down(problem)) continue;
    if (shape.tile_n != 128 || shape.blocks_m == 2) tile_n.values.push_back(shape.tile_n);
    tile_n.pairs.emplace_back(shape.tile_m(), shape.tile_n);
  }
  return {std::move(rows), std::move(columns), std::move(chunk), std::move(tile_m), std::move(tile_n)};
}

Verdict check(const CnnLayer& problem, const backend::Device& device) {
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no(
        "the accuracy of cnn_layer is strict, but winograd_split makes each product from three of shorter numbers");
  }
  if (Verdict is_taken = check_cnn_layer_winograd(problem, winograd_split_roundings(problem)); !is_taken)
    return is_taken;
  return check_split_card(device);
}

/// A block multiplies for 128 output channels at least. On an H100 64 channels of 112 x 112 pixels to 32, 5 x 5, take
/// 32 us and winograd 29, to 48 34 and 41.
constexpr std::int64_t kFewOutputs = 32;

/// And for 64 input channels. On an H200 32 channels to 64, 3 x 3, 104 x 104, pooled, take 21.8 us and winograd 17.7,
/// on two images 33.7 and 23.2.
constexpr std::int64_t kFewInputs = 32;

/// Nor for so few tiles. On an H200 256 channels to 384, 3 x 3, 13 x 13, which has 16 tiles, take 24.9 us and winograd
/// 20.9, on two images 25.6 and 21.0; on an H100 256 to 256 on two of 14 x 14, 32 tiles, 20.4 and 18.8. On three, 48
/// tiles, an H200 takes 19.7 and 24.2, and of 512 channels to 512 on 14 x 14, pooled, 16 tiles, 29.8 and 34.8.
constexpr std::int64_t kFewTiles = 32, kMostInputsOfFewTiles = 256;

/// Wherever winograd does, but for few channels or tiles: its transforms split on the way, so that little is left of
/// what makes gemm's split pay late. On an H100 64 channels to 64, 3 x 3, 56 x 56, on eight images take 33.9 us against
/// 36.8 of winograd.
Verdict pays(const CnnLayer& problem, const backend::Device& device) {
  if (problem.output_channels <= kFewOutputs) {
    return Verdict::no(sentence("cnn_layer has ", problem.output_channels,
                                " output_channels, and winograd is faster up to ", kFewOutputs));
  }
  if (problem.input_channels <= kFewInputs) {
    return Verdict::no(sentence("cnn_layer has ", problem.input_channels,
                                " input_channels, and winograd is faster up to ", kFewInputs));
  }
  const double of_sums = winograd_split_roundings(problem);
  if (Verdict saves = cnn_layer_winograd_pays(problem, device, of_sums); !saves) return saves;
  const CnnLayerWinogradTiling tiling(
      problem, choose_winograd_shape(problem, mathematics::cnn_layer_winograd_shapes(problem, of_sums)));
  const std::int64_t tiles = tiling.all_tiles(problem.batch);
  if (tiles > kFewTiles || problem.input_channels > kMostInputsOfFewTiles) return Verdict::yes();
  return Verdict::no(sentence("cnn_layer has ", tiles, " tiles and ", problem.input_channels,
                              " input_channels, and winograd is faster up to ", kFewTiles, " and ",
                              kMostInputsOfFewTiles));
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const GemmSplitShape& shape = winograd_split_shape(tuning.at("tile_m"), tuning.at("tile_n"));
  return make_cnn_layer_winograd(native(device), problem, {tuning.at("tile"), tuning.at("tile_columns")},
                                 tuning.at("chunk"), winograd_split_roundings(problem, shape),
                                 [&](CudaDevice& card, const CnnLayerWinogradSizes& sizes) {
                                   return std::make_unique<SplitProducts>(card, sizes, shape);
                                 });
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
          [](const CnnLayer& problem, const backend::Device&) {
            const double of_sums = winograd_split_roundings(problem);
            return mathematics::cnn_layer_winograd_factor(
                problem, mathematics::cnn_layer_winograd_shapes(problem, of_sums).front(), of_sums);
          },
      .pays = pays,
      .error_factor_with =
          [](const CnnLayer& problem, const backend::Device&, const Tuning& tuning) {
            return mathematics::cnn_layer_winograd_factor(
                problem, {tuning.at("tile"), tuning.at("tile_columns")},
                winograd_split_roundings(problem, winograd_split_shape(tuning.at("tile_m"), tuning.at("tile_n"))));
          },
  };
}

}  // namespace tessera::cuda
