// cnn_layer by Winograd's algorithm: sums up the magnitudes of every pixel's channels, transforms chunks of tiles, has
// them multiplied, transforms back. Which tiles are computed without transforms: cnn_layer_winograd_direct.cuh.
//
//   workspace:  [input as planes, if NHWC] [result as planes, if NHWC, or plain sums, if the pool is not the tile's]
//               [magnitudes] [tiles in doubt] [transformed] [products] [the products' own]
//   prepared:   [transformed weights] [weights as they were, for tiles that must be computed without transforms]
#include <algorithm>
#include <limits>

#include "cuda_embedded.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_limits.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_winograd_products.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

class CnnLayerWinograd final : public backend::Kernel {
 public:
  CnnLayerWinograd(CudaDevice& device, const CnnLayer& problem, mathematics::WinogradTileShape shape,
                   std::int64_t chunk, std::optional<double> of_sums, const MakeWinogradProducts& make_products)
      : card_(device.context()->limits()),
        problem_(problem),
        tiling_(problem, shape),
        limit_(static_cast<float>(mathematics::cnn_layer_winograd_limit(problem, shape, of_sums))),
        leading_outputs_(ceil_div(problem.output_channels, 4) * 4),
        weights_(device.context(), embedded::cnn_layer_winograd,
                 winograd_function("winograd_weights", tiling_, problem), {}),
        magnitudes_(device.context(), embedded::cnn_layer_winograd, "tessera_cnn_layer_winograd_magnitudes", {}),
        planes_(planes_of_input<float>(device.context(), problem)),
        result_planes_(device.context(), problem.output_channels, result_pixels()),
        finish_(device.context(), problem) {
    const bool is_nhwc = problem.layout == Layout::nhwc;
    const std::size_t plane_bytes = is_nhwc ? input_elements() * sizeof(float) : 0;
    const std::int64_t kept = !tiling_.is_direct ? sum_elements() : is_nhwc ? result_elements() : 0;
    const std::size_t sum_bytes = static_cast<std::size_t>(kept) * sizeof(float);
    const std::size_t magnitude_bytes = static_cast<std::size_t>(pixels()) * sizeof(float);
    images_ =
        std::min(std::numeric_limits<std::int32_t>::max() / 2 / image_tiles(),
                 kCnnLayerLargestWorkspace / static_cast<std::int64_t>(plane_bytes + sum_bytes + magnitude_bytes));
    images_ = std::clamp<std::int64_t>(images_, 1, std::max<std::int64_t>(problem.batch, 1));
    chunk_ = std::min(chunk, images_ * image_tiles());
    leading_ = ceil_div(chunk_, 4) * 4;
    products_of_chunks_ = make_products(device, {problem_, tiling_, leading_outputs_, leading_, sizes_of_chunks()});

    planes_at_ = workspace_.take(plane_bytes * static_cast<std::size_t>(images_));
    sums_at_ = workspace_.take(sum_bytes * static_cast<std::size_t>(images_));
    magnitudes_at_ = workspace_.take(magnitude_bytes * static_cast<std::size_t>(images_));
    doubts_at_ = workspace_.take(static_cast<std::size_t>(chunk_));
    transformed_at_ = workspace_.take(products_of_chunks_->transformed_bytes());
    products_at_ = workspace_.take(products_of_chunks_->products_bytes());
    rest_at_ = workspace_.take(products_of_chunks_->workspace_bytes());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.size_bytes(); }
  [[nodiscard]] std::size_t prepared_bytes() const override { return plain_weights_at() + weight_bytes(); }

  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& workspace) override {
    const auto transform = [&](float* transformed) {
      CnnLayerWinogradWeightsArguments arguments{pointer_to<const float>(weights), transformed, leading_outputs_,
                                                 static_cast<std::int32_t>(problem_.input_channels),
                                                 static_cast<std::int32_t>(problem_.output_channels)};
      weights_.enqueue(queue, arguments, grid(leading_outputs_, problem_.input_channels));
    };
    products_of_chunks_->prepare(queue, transform, part(prepared, 0, plain_weights_at()),
                                 part(workspace, rest_at_, products_of_chunks_->workspace_bytes()));
    queue.copy({prepared.buffer, prepared.offset_bytes + plain_weights_at(), weight_bytes()},
               {weights.buffer, weights.offset_bytes, weight_bytes()});
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const auto* const input = pointer_to<const float>(operands[0]);
    const auto* const bias = pointer_to<const float>(operands[2]);
    auto* const output = pointer_to<float>(operands[3]);
    const bool is_nhwc = problem_.layout == Layout::nhwc;
    for (std::int64_t first = 0; first < problem_.batch; first += images_) {
      const std::int64_t images = std::min(images_, problem_.batch - first);
      float* const its_output = output + first * result_elements();
      CnnLayerWinogradArguments arguments = arguments_for(bias);
      arguments.input = input + first * static_cast<std::int64_t>(input_elements());
      if (is_nhwc) {
        planes_.enqueue(queue, arguments.input, pointer_at<float>(workspace, planes_at_), images);
        arguments.input = pointer_at<const float>(workspace, planes_at_);
      }
      add_magnitudes(queue, arguments.input, workspace, images);
      arguments.output = tiling_.is_direct && !is_nhwc ? its_output : pointer_at<float>(workspace, sums_at_);
      compute_tiles(queue, arguments, operands[1], workspace, images * image_tiles());
      if (!tiling_.is_direct) {
        finish_.enqueue(queue, arguments.output, 1, bias, its_output, images);
      } else if (is_nhwc) {
        result_planes_.enqueue_back(queue, arguments.output, its_output, images);
      }
    }
  }

 private:
  [[nodiscard]] static backend::Slice part(const backend::Slice& slice, std::size_t offset, std::size_t bytes) {
    return {slice.buffer, slice.offset_bytes + offset, bytes};
  }

  [[nodiscard]] std::int64_t image_tiles() const { return tiling_.rows * tiling_.row_tiles; }
  /// Of an image.
  [[nodiscard]] std::int64_t pixels() const { return problem_.height * problem_.width; }
  [[nodiscard]] std::size_t input_elements() const {
    return static_cast<std::size_t>(problem_.input_channels * pixels());
  }
  [[nodiscard]] std::int64_t result_pixels() const { return problem_.output_height() * problem_.output_width(); }
  [[nodiscard]] std::int64_t result_elements() const { return problem_.output_channels * result_pixels(); }
  [[nodiscard]] std::int64_t sum_elements() const {
    return problem_.output_channels * problem_.convolved_height() * problem_.convolved_width();
  }
  [[nodiscard]] std::size_t plain_weights_at() const { return products_of_chunks_->weight_bytes(); }
  [[nodiscard]] std::size_t weight_bytes() const {
    return static_cast<std::size_t>(problem_.output_channels * problem_.input_channels * problem_.filter_height *
                                    problem_.filter_width) *
           sizeof(float);
  }

  [[nodiscard]] LaunchGrid grid(std::int64_t tiles, std::int64_t channels) const {
    return winograd_grid(card_, ceil_div(tiles, kCnnLayerWinogradThreads), channels);
  }

  /// The last chunk of all images, and that of the images that are left for the last round, may be smaller.
  [[nodiscard]] std::vector<std::int64_t> sizes_of_chunks() const {
    std::vector<std::int64_t> sizes{chunk_};
    for (const std::int64_t images : {images_, problem_.batch % images_}) {
      const std::int64_t rest = images * image_tiles() % chunk_;
      if (rest != 0 && std::find(sizes.begin(), sizes.end(), rest) == sizes.end()) sizes.push_back(rest);
    }
    return sizes;
  }

  /// All but the addresses and the chunk.
  [[nodiscard]] CnnLayerWinogradArguments arguments_for(const float* bias) const {
    const CnnLayer& p = problem_;
    const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
    CnnLayerWinogradArguments arguments{};
    arguments.bias = tiling_.is_direct ? bias : nullptr;
    arguments.leading = leading_;
    arguments.limit = limit_;
    arguments.image_tiles = small(image_tiles());
    arguments.row_tiles = small(tiling_.row_tiles);
    arguments.channels = small(p.input_channels);
    arguments.outputs = small(p.output_channels);
    arguments.height = small(p.height);
    arguments.width = small(p.width);
    arguments.padding = small(p.padding);
    arguments.output_height = small(tiling_.is_direct ? p.output_height() : p.convolved_height());
    arguments.output_width = small(tiling_.is_direct ? p.output_width() : p.convolved_width());
    arguments.pooled = tiling_.is_pooled;
    arguments.relu = tiling_.is_direct && p.relu;
    return arguments;
  }

  void add_magnitudes(backend::Queue& queue, const float* input, const backend::Slice& workspace,
                      std::int64_t images) const {
    const bool is_wide = pixels() % 4 == 0 && reinterpret_cast<std::uintptr_t>(input) % 16 == 0;
    const std::int32_t vector = is_wide ? 4 : 1;
    CnnLayerWinogradMagnitudesArguments arguments{input,
                                                  pointer_at<float>(workspace, magnitudes_at_),
                                                  pixels(),
                                                  static_cast<std::int32_t>(problem_.input_channels),
                                                  static_cast<std::int32_t>(images),
                                                  vector};
    LaunchGrid grid = grid_of(card_, ceil_div(pixels(), kCnnLayerWinogradPixels * vector), images, 1,
                              kCnnLayerWinogradPixels * kCnnLayerWinogradSlices);
    grid.overlaps = card_.compute_capability_major >= 9;
    magnitudes_.enqueue(queue, arguments, grid);
  }

  void compute_tiles(backend::Queue& queue, CnnLayerWinogradArguments& arguments, const backend::Slice& weights,
                     const backend::Slice& workspace, std::int64_t tiles) const {
    const backend::Slice transformed = part(workspace, transformed_at_, products_of_chunks_->transformed_bytes());
    const backend::Slice products = part(workspace, products_at_, products_of_chunks_->products_bytes());
    const backend::Slice rest = part(workspace, rest_at_, products_of_chunks_->workspace_bytes());
    arguments.weights = pointer_at<const float>(weights, plain_weights_at());
    arguments.magnitudes = pointer_at<const float>(workspace, magnitudes_at_);
    arguments.doubts = pointer_at<std::uint8_t>(workspace, doubts_at_);
    const int vector = cnn_layer_winograd_vector(tiling_.shape.outputs_x);
    arguments.aligned = reinterpret_cast<std::uintptr_t>(arguments.input) % 16 == 0 && problem_.width % vector == 0 &&
                        problem_.padding % vector == 0;
    for (std::int64_t first = 0; first < tiles; first += chunk_) {
      const std::int64_t count = std::min(chunk_, tiles - first);
      arguments.first_tile = static_cast<std::int32_t>(first);
      arguments.tiles = static_cast<std::int32_t>(count);
      arguments.is_beside_magnitudes = first == 0;
      products_of_chunks_->transform(queue, arguments, transformed);
      products_of_chunks_->multiply(queue, count, part(weights, 0, plain_weights_at()), transformed, products, rest);
      products_of_chunks_->transform_back(queue, arguments, transformed, products);
    }
  }

  const DeviceLimits& card_;  // lives as long as the functions, which own its context
  CnnLayer problem_;
  CnnLayerWinogradTiling tiling_;
  float limit_;                   ///< from which on tiles are in doubt
  std::int64_t leading_outputs_;  ///< elements from one row of transformed weights to the next
  CudaFunction weights_;
  CudaFunction magnitudes_;
  CnnLayerPlanes<float> planes_;
  CnnLayerPlanes<float> result_planes_;
  CnnLayerFinish<float> finish_;
  std::unique_ptr<CnnLayerWinogradProducts> products_of_chunks_;
  std::int64_t images_ = 1;   ///< of a round
  std::int64_t chunk_ = 0;    ///< tiles
  std::int64_t leading_ = 0;  ///< elements from one row of a chunk's matrices to the next
  CnnLayerWorkspace workspace_;
  std::size_t planes_at_ = 0;
  std::size_t sums_at_ = 0;
  std::size_t magnitudes_at_ = 0;
  std::size_t doubts_at_ = 0;
  std::size_t transformed_at_ = 0;
  std::size_t products_at_ = 0;
  std::size_t rest_at_ = 0;
};

}  // namespace

std::string winograd_function(std::string_view step, const CnnLayerWinogradTiling& tiling, const CnnLayer& problem) {
  return sentence("tessera_cnn_layer_", step, "_", tiling.shape.outputs_y, "_", tiling.shape.outputs_x, "_",
                  problem.filter_height);
}

LaunchGrid winograd_grid(const DeviceLimits& card, std::int64_t groups, std::int64_t channels) {
  LaunchGrid grid = grid_of(card, groups, channels, 1, kCnnLayerWinogradThreads);
  grid.overlaps = card.compute_capability_major >= 9;
  return grid;
}

Verdict check_cnn_layer_winograd(const CnnLayer& problem, std::optional<double> of_sums) {
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of cnn_layer is ", to_string(problem.type), ", but winograd takes float32"));
  }
  const Verdict is_taken = mathematics::cnn_layer_winograd_check_any(problem, of_sums);
  return is_taken ? check_cnn_layer_sizes(problem) : is_taken;
}

std::unique_ptr<backend::Kernel> make_cnn_layer_winograd(CudaDevice& device, const CnnLayer& problem,
                                                         mathematics::WinogradTileShape shape, std::int64_t chunk,
                                                         std::optional<double> of_sums,
                                                         const MakeWinogradProducts& make_products) {
  return std::make_unique<CnnLayerWinograd>(device, problem, shape, chunk, of_sums, make_products);
}

}  // namespace tessera::cuda
