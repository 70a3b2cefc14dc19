// The variant "implicit_gemm_split": weights are prepared as gemm's split prepares its A, pixels are split into the
// workspace by three short launches, and a fourth one multiplies; another ends what does not fit a pool of 2 x 2.
#include <limits>

#include "cuda_embedded.h"
#include "ops/cnn_layer/cnn_layer_limits.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_split_choice.h"
#include "ops/cnn_layer/cnn_layer_split_sizes.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/gemm/gemm_split_launch.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::round_up;

/// A layer's copies may take this part of the card's memory.
constexpr std::uint64_t kMemoryShare = 4;

/// Images of one launch: as many as the workspace allows, as can be numbered in 31 bits, and as a grid takes tiles.
std::int64_t images_of_launch(const CnnLayerSplitSizes& sizes, const SplitMmaShape& shape, std::int64_t batch,
                              std::int64_t image_bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t images = std::min(kMost / 2 / sizes.image_columns, kCnnLayerLargestWorkspace / image_bytes);
  images = std::clamp<std::int64_t>(images, 1, std::max<std::int64_t>(batch, 1));
  while (images > 1 && sizes.tiles(shape, images) > kMost) images /= 2;
  return images;
}

class CnnLayerImplicitGemmSplit final : public backend::Kernel {
 public:
  CnnLayerImplicitGemmSplit(const CudaDevice& device, const CnnLayer& problem, const SplitMmaShape& shape)
      : card_(device.context()->limits()),
        problem_(problem),
        sizes_(problem),
        shape_(shape),
        weights_(device.context(), sizes_.as_gemm(), GemmSplitKind::split, tiling_of(shape),
                 {embedded::cnn_layer_implicit_gemm_split, "tessera_cnn_layer_implicit_gemm_split_"}),
        order_(function(device, "weights")),
        largest_(function(device, "largest")),
        split_(function(device, "pixels")),
        doubts_(function(device, "doubts")),
        multiply_(device.context(), embedded::cnn_layer_implicit_gemm_split,
                  sentence("tessera_cnn_layer_implicit_gemm_split_", shape.tile_m(), "x", shape.tile_n()), {}),
        finish_(device.context(), problem),
        has_parts_(problem.pool_size > 1 && !has_plain_pool(problem)) {
    fill_arguments();
    const std::int64_t part_bytes =
        has_parts_ ? sizes_.outputs * sizes_.image_columns * std::int64_t{sizeof(float)} : 0;
    const std::int64_t column_bytes = sizes_.image_columns * std::int64_t{sizeof(GemmSplitNote)};
    const std::int64_t pixel_bytes = sizes_.plane_pixels * std::int64_t{sizeof(std::uint32_t) + 1};
    images_ =
        images_of_launch(sizes_, shape, problem.batch, sizes_.image_bytes() + part_bytes + column_bytes + pixel_bytes);
    const auto take = [&](std::int64_t bytes) { return workspace_.take(static_cast<std::size_t>(bytes)); };
    pixels_at_ = take(images_ * sizes_.image_bytes());
    largest_at_ = take(images_ * arguments_.parts * std::int64_t{sizeof(std::uint32_t)});
    shifts_at_ = take(images_ * std::int64_t{sizeof(std::int32_t)});
    tiny_at_ = take(images_ * sizes_.plane_pixels * std::int64_t{sizeof(std::uint32_t)});
    seen_at_ = take(images_ * sizes_.plane_pixels);
    notes_at_ = take(all_columns(images_) * std::int64_t{sizeof(GemmSplitNote)});
    parts_at_ = take(images_ * part_bytes);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.size_bytes(); }
  /// The matrix of weights, its panels and their notes.
  [[nodiscard]] std::size_t prepared_bytes() const override {
    return notes_of_weights_at() + static_cast<std::size_t>(GemmSplitLaunch::note_bytes(weights_.rows_of_a()));
  }

  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& /*workspace*/) override {
    auto* const matrix = pointer_to<float>(prepared);
    CnnLayerSplitWeightsArguments arguments{pointer_to<const float>(weights),
                                            matrix,
                                            sizes_.outputs,
                                            sizes_.steps,
                                            static_cast<std::int32_t>(problem_.input_channels),
                                            static_cast<std::int32_t>(problem_.filter_height * problem_.filter_width)};
    order_.enqueue(queue, arguments, grid(ceil_div(sizes_.steps, kCnnLayerThreads), sizes_.outputs));
    GemmSplitSide side = weights_.side_a(matrix);
    side.panels = pointer_at<unsigned char>(prepared, panels_at());
    side.notes = pointer_at<GemmSplitNote>(prepared, notes_of_weights_at());
    weights_.prepare(queue, {side, 1}, {weights_.side_b(nullptr), 0});
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    CnnLayerSplitArguments arguments = arguments_;  // a kernel may be launched on several queues at once
    const auto* const input = pointer_to<const float>(operands[0]);
    const auto* const bias = pointer_to<const float>(operands[2]);
    auto* const output = pointer_to<float>(operands[3]);
    arguments.layer.weights = pointer_to<const float>(operands[1]);
    arguments.panels = pointer_at<const unsigned char>(operands[1], panels_at());
    arguments.row_notes = pointer_at<const GemmSplitNote>(operands[1], notes_of_weights_at());
    arguments.pixels = pointer_at<unsigned char>(workspace, pixels_at_);
    arguments.largest = pointer_at<std::uint32_t>(workspace, largest_at_);
    arguments.shifts = pointer_at<std::int32_t>(workspace, shifts_at_);
    arguments.tiny = pointer_at<std::uint32_t>(workspace, tiny_at_);
    arguments.seen = pointer_at<std::uint8_t>(workspace, seen_at_);
    arguments.column_notes = pointer_at<GemmSplitNote>(workspace, notes_at_);
    for (std::int64_t first = 0; first < problem_.batch; first += images_) {
      const std::int64_t images = std::min(images_, problem_.batch - first);
      float* const its_output = output + first * output_strides_.image;
      arguments.layer.input = input + first * arguments.layer.image_stride;
      arguments.layer.bias = has_parts_ ? nullptr : bias;
      arguments.layer.output = has_parts_ ? pointer_at<float>(workspace, parts_at_) : its_output;
      launch_images(queue, arguments, images);
      if (has_parts_) finish_.enqueue(queue, arguments.layer.output, 1, bias, its_output, images);
    }
  }

 private:
  static CudaFunction function(const CudaDevice& device, const char* step) {
    return {device.context(), embedded::cnn_layer_implicit_gemm_split, sentence("tessera_cnn_layer_split_", step), {}};
  }
  /// Of so many images, with those that fill up the last tile.
  [[nodiscard]] std::int64_t all_columns(std::int64_t images) const {
    return round_up(images * sizes_.image_columns, std::int64_t{shape_.tile_n()});
  }
  [[nodiscard]] std::size_t panels_at() const {
    return static_cast<std::size_t>(round_up(sizes_.matrix_bytes(), std::int64_t{256}));
  }
  [[nodiscard]] std::size_t notes_of_weights_at() const {
    return panels_at() + static_cast<std::size_t>(weights_.panel_bytes(weights_.rows_of_a()));
  }
  [[nodiscard]] LaunchGrid grid(std::int64_t x, std::int64_t y) const {
    LaunchGrid grid = grid_of(card_, x, y, 1, kCnnLayerThreads);
    grid.overlaps = card_.compute_capability_major >= 9;
    return grid;
  }

  /// All but the addresses and what depends on the number of images.
  void fill_arguments() {
    const CnnLayer& p = problem_;
    const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
    const std::int64_t pixels = sizes_.plane_pixels;
    output_strides_ = strides_of(p.layout, p.output_channels, p.output_height() * p.output_width());
    const CnnLayerStrides from = strides_of(p.layout, p.input_channels, pixels);
    const CnnLayerStrides to = has_parts_ ? plane_strides(p.output_channels, sizes_.image_columns) : output_strides_;
    CnnLayerGemmArguments<float>& layer = arguments_.layer;
    layer.image_stride = from.image;
    layer.weights_stride = sizes_.steps;
    layer.output_image_stride = to.image;
    layer.output_channel_stride = to.channel;
    layer.output_pixel_stride = to.pixel;
    layer.image_columns = small(sizes_.image_columns);
    layer.pooled = has_plain_pool(p);
    layer.row_windows = small(layer.pooled ? p.output_width() : p.convolved_width());
    layer.channels = small(p.input_channels);
    layer.outputs = small(p.output_channels);
    layer.height = small(p.height);
    layer.width = small(p.width);
    layer.filter_height = small(p.filter_height);
    layer.filter_width = small(p.filter_width);
    layer.stride = small(p.stride);
    layer.padding = small(p.padding);
    layer.tiles_m = small(ceil_div(p.output_channels, std::int64_t{shape_.tile_m()}));
    layer.is_part = has_parts_;
    layer.relu = p.relu;
    arguments_.channel_stride = from.channel;
    arguments_.pixel_stride = from.pixel;
    arguments_.plane_bytes = pixels * kSplitChunkBytes;
    arguments_.image_bytes = sizes_.image_bytes();
    arguments_.plane_pixels = small(pixels);
    arguments_.parts =
        small(std::clamp<std::int64_t>(from.image / kCnnLayerSplitPartPixels, 1, kCnnLayerSplitMostParts));
    arguments_.channel_chunks = small(sizes_.channel_chunks);
    arguments_.chunks = small(sizes_.chunks);
    arguments_.panel_count = small(weights_.panels());
    arguments_.stages = small(ceil_div(sizes_.steps, std::int64_t{kSplitStep * shape_.steps}));
    arguments_.doubt_of_one = weights_.doubt_of_one();
  }

  void launch_images(backend::Queue& queue, CnnLayerSplitArguments& arguments, std::int64_t images) const {
    CnnLayerGemmArguments<float>& layer = arguments.layer;
    layer.columns = static_cast<std::int32_t>(images * sizes_.image_columns);
    layer.aligned = !layer.pooled && layer.output_pixel_stride == 1 && layer.image_columns % 2 == 0 &&
                    reinterpret_cast<std::uintptr_t>(layer.output) % 8 == 0;
    arguments.images = static_cast<std::int32_t>(images);
    arguments.all_columns = static_cast<std::int32_t>(all_columns(images));
    largest_.enqueue(queue, arguments, grid(arguments.parts, images));
    split_.enqueue(queue, arguments,
                   grid(ceil_div(sizes_.plane_pixels * sizes_.channel_chunks, kCnnLayerThreads), images));
    doubts_.enqueue(queue, arguments, grid(ceil_div(all_columns(images), kCnnLayerThreads), 1));
    LaunchGrid of_tiles = grid(sizes_.tiles(shape_, images), 1);
    of_tiles.group_size[0] = static_cast<unsigned>(shape_.threads());
    of_tiles.dynamic_shared_bytes = static_cast<unsigned>(shape_.shared_bytes());
    multiply_.enqueue(queue, arguments, of_tiles);
  }

  const DeviceLimits& card_;  // lives as long as the functions, which own its context
  CnnLayer problem_;
  CnnLayerSplitSizes sizes_;
  SplitMmaShape shape_;
  GemmSplitLaunch weights_;
  CudaFunction order_;
  CudaFunction largest_;
  CudaFunction split_;
  CudaFunction doubts_;
  CudaFunction multiply_;
  CnnLayerFinish<float> finish_;
  bool has_parts_;           ///< are plain sums written, and ended by another kernel?
  std::int64_t images_ = 1;  ///< of one launch
  CnnLayerStrides output_strides_{};
  CnnLayerSplitArguments arguments_{};
  CnnLayerWorkspace workspace_;
  std::size_t pixels_at_ = 0;
  std::size_t largest_at_ = 0;
  std::size_t shifts_at_ = 0;
  std::size_t tiny_at_ = 0;
  std::size_t seen_at_ = 0;
  std::size_t notes_at_ = 0;
  std::size_t parts_at_ = 0;
};

Verdict check_implicit_gemm_split(const CnnLayer& problem, const backend::Device& device) {
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no(
        "the accuracy of cnn_layer is strict, but implicit_gemm_split makes each product from three of shorter "
        "numbers");
  }
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of cnn_layer is ", to_string(problem.type), ", but must be float32"));
  }
  if (Verdict sizes = check_cnn_layer_sizes(problem); !sizes) return sizes;
  if (Verdict is_taken = check_split_mma_card(device); !is_taken) return is_taken;
  const CnnLayerSplitSizes sizes(problem);
  constexpr std::int64_t kMostPixels = std::numeric_limits<std::int32_t>::max();
  if (sizes.plane_pixels > kMostPixels) {
    return Verdict::no(sentence("an image of cnn_layer has ", problem.height, " x ", problem.width,
                                " pixels, but the limit is ", kMostPixels));
  }
  // In double: both may be larger than any number of bytes.
  const double pixels = static_cast<double>(sizes.channel_chunks) * static_cast<double>(sizes.plane_pixels) *
                        (kSplitPlanes * kSplitChunkBytes);
  const double weights = static_cast<double>(sizes.outputs) * static_cast<double>(sizes.steps) * 8;
  const std::uint64_t most = native(device).info().memory_total_bytes / kMemoryShare;
  if (pixels + weights > static_cast<double>(most)) {
    return Verdict::no(sentence("the split copies of weights and an image take ", pixels + weights,
                                " bytes, but must take at most ", most, ", a quarter of the device's memory"));
  }
  const std::int64_t tiles = sizes.tiles(kCnnLayerSplitShapes[0], 1);
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  if (static_cast<std::uint64_t>(tiles) > limit) {
    return Verdict::no(
        sentence("an image of cnn_layer takes ", tiles, " groups, but a launch takes ", limit, " at most"));
  }
  return check_output_grid(problem, device);
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const SplitMmaShape& shape = cnn_layer_split_shape(tuning.at("tile_m"), tuning.at("tile_n"));
  return std::make_unique<CnnLayerImplicitGemmSplit>(native(device), problem, shape);
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_implicit_gemm_split() {
  return {
      .name = "implicit_gemm_split",
      .summary = "implicit_gemm by fp16 tensor cores, each factor as a sum of two, added up in float32",
      .check = check_implicit_gemm_split,
      .tunables = cnn_layer_split_tunables,
      .make = make,
      .error_factor_of = [](const CnnLayer& problem,
                            const backend::Device&) { return CnnLayerSplitSizes(problem).error_factor(); },
      .pays = cnn_layer_split_pays,
  };
}

}  // namespace tessera::cuda
