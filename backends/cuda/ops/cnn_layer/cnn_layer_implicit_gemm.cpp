// The variant "implicit_gemm": binds a problem to one of the compiled shapes and launches it, with a second kernel
// where the pool does not fit a thread's pixels or k is split over more groups than can reach each other.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_table.h"
#include "ops/cnn_layer/cnn_layer_gemm_arguments.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_limits.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_product.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

template <class T>
class CnnLayerImplicitGemm final : public backend::Kernel {
 public:
  CnnLayerImplicitGemm(CudaDevice& device, const CnnLayer& problem, const GemmRegisterImage& image, std::int64_t splits)
      : context_(device.context()),
        problem_(problem),
        product_(problem),
        shape_(image.shape),
        splits_(splits),
        weights_(context_, problem, product_.chunk, product_.groups * kCnnLayerGroup,
                 ceil_div(problem.output_channels, 16) * 16),
        planes_(planes_of_input<T>(context_, problem)),
        finish_(context_, problem) {
    const DeviceLimits& card = context_->limits();
    has_clusters_ = card.compute_capability_major >= 9;
    has_parts_ = (splits_ > 1 && !is_cluster()) || (problem.pool_size > 1 && !has_plain_pool(problem));
    if (has_parts_) product_.image_columns = convolved_pixels();
    const std::size_t plane_bytes = problem.layout == Layout::nhwc ? input_elements() * sizeof(T) : 0;
    const std::size_t part_bytes = has_parts_ ? part_elements() * sizeof(T) : 0;
    images_ = images_of_launch(product_, shape_, problem.batch, plane_bytes + part_bytes);
    planes_at_ = workspace_.take(plane_bytes * static_cast<std::size_t>(images_));
    parts_at_ = workspace_.take(part_bytes * static_cast<std::size_t>(images_));

    const std::string name = sentence("tessera_cnn_layer_implicit_gemm_", to_string(problem.type), "_", shape_.tile_m,
                                      "x", shape_.tile_n, product_.is_wide ? "_wide" : "_few");
    function_ = context_->function(image.image, name);
    check(context_->api().cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(card.shared_bytes)),
          "allowing a kernel all of the shared memory");
    fill_arguments();
    if (!product_.is_wide) fill_tables(device);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.size_bytes(); }
  [[nodiscard]] std::size_t prepared_bytes() const override { return weights_.size_bytes(); }
  [[nodiscard]] std::size_t held_bytes() const override { return tables_ ? tables_->size_bytes() : 0; }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& /*workspace*/) override {
    weights_.prepare(queue, weights, prepared);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const auto* const input = pointer_to<const T>(operands[0]);
    const auto* const bias = pointer_to<const T>(operands[2]);
    auto* const output = pointer_to<T>(operands[3]);
    CnnLayerGemmArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.weights = pointer_to<const T>(operands[1]);
    for (std::int64_t first = 0; first < problem_.batch; first += images_) {
      const std::int64_t images = std::min(images_, problem_.batch - first);
      T* const its_output = output + first * output_strides_.image;
      arguments.input = input + first * static_cast<std::int64_t>(input_elements());
      if (problem_.layout == Layout::nhwc) {
        planes_.enqueue(queue, arguments.input, pointer_at<T>(workspace, planes_at_), images);
        arguments.input = pointer_at<const T>(workspace, planes_at_);
      }
      arguments.bias = has_parts_ ? nullptr : bias;
      arguments.output = has_parts_ ? pointer_at<T>(workspace, parts_at_) : its_output;
      launch_product(static_cast<CudaQueue&>(queue), arguments, images);
      if (has_parts_) {
        finish_.enqueue(queue, arguments.output, is_cluster() ? 1 : splits_, bias, its_output, images);
      }
    }
  }

 private:
  /// Do two groups add up their sums through each other's shared memory?
  [[nodiscard]] bool is_cluster() const { return splits_ == 2 && has_clusters_; }
  /// Does the kernel pool?
  [[nodiscard]] bool is_pooled() const { return has_plain_pool(problem_); }
  /// Of an image.
  [[nodiscard]] std::size_t input_elements() const {
    return static_cast<std::size_t>(problem_.input_channels * problem_.height * problem_.width);
  }
  [[nodiscard]] std::int64_t convolved_pixels() const {
    return problem_.convolved_height() * problem_.convolved_width();
  }
  /// Of an image, in all parts.
  [[nodiscard]] std::size_t part_elements() const {
    return static_cast<std::size_t>((is_cluster() ? 1 : splits_) * problem_.output_channels * convolved_pixels());
  }

  /// All but the addresses and what depends on the number of images.
  void fill_arguments() {
    const CnnLayer& p = problem_;
    const bool pools_here = is_pooled() && !has_parts_;
    output_strides_ = strides_of(p.layout, p.output_channels, p.output_height() * p.output_width());
    const CnnLayerStrides to = has_parts_ ? plane_strides(p.output_channels, convolved_pixels()) : output_strides_;
    const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
    const std::int64_t unit = shape_.depth / kCnnLayerGroup;  // groups of a stage
    arguments_.image_stride = static_cast<std::int64_t>(input_elements());
    arguments_.plane_stride = p.height * p.width;
    arguments_.weights_stride = weights_.leading();
    arguments_.output_image_stride = to.image;
    arguments_.output_channel_stride = to.channel;
    arguments_.output_pixel_stride = to.pixel;
    arguments_.image_columns = small(product_.image_columns);
    arguments_.row_windows = small(pools_here ? p.output_width() : p.convolved_width());
    arguments_.channels = small(p.input_channels);
    arguments_.outputs = small(p.output_channels);
    arguments_.height = small(p.height);
    arguments_.width = small(p.width);
    arguments_.filter_height = small(p.filter_height);
    arguments_.filter_width = small(p.filter_width);
    arguments_.stride = small(p.stride);
    arguments_.padding = small(p.padding);
    arguments_.groups = small(product_.groups);
    arguments_.split_groups = small(ceil_div(ceil_div(product_.groups, splits_), unit) * unit);
    arguments_.steps = small(product_.steps);
    arguments_.tiles_m = small(ceil_div(p.output_channels, shape_.tile_m));
    arguments_.pooled = pools_here;
    arguments_.is_part = has_parts_;
    arguments_.relu = p.relu;
  }

  /// Where each step's pixel lies, as FewPixels reads it (cnn_layer_pixels.cuh).
  void fill_tables(CudaDevice& device) {
    const CnnLayer& p = problem_;
    const auto count = static_cast<std::size_t>(product_.groups * kCnnLayerGroup);
    std::vector<std::int32_t> offsets;
    std::vector<std::int32_t> places;
    for (std::int64_t c = 0; c < p.input_channels; ++c) {
      for (std::int64_t i = 0; i < p.filter_height; ++i) {
        for (std::int64_t j = 0; j < p.filter_width; ++j) {
          offsets.push_back(static_cast<std::int32_t>((c * p.height + i) * p.width + j));
          places.push_back(static_cast<std::int32_t>(i << 16 | j));
        }
      }
    }
    offsets.resize(count);
    places.resize(count);
    offsets.insert(offsets.end(), places.begin(), places.end());
    tables_.emplace(device, offsets);
    arguments_.offsets = tables_->begin<std::int32_t>();
    arguments_.places = arguments_.offsets + count;
  }

  void launch_product(CudaQueue& queue, CnnLayerGemmArguments<T>& arguments, std::int64_t images) const {
    const DeviceLimits& card = context_->limits();
    arguments.columns = static_cast<std::int32_t>(images * product_.image_columns);
    arguments.split_stride = has_parts_ && !is_cluster() ? images * arguments.output_image_stride : 0;
    arguments.aligned = !arguments.pooled && arguments.output_pixel_stride == 1 && product_.image_columns % 4 == 0 &&
                        reinterpret_cast<std::uintptr_t>(arguments.output) % 16 == 0;
    const std::int64_t tiles = product_.tiles(shape_, images);
    LaunchGrid grid = grid_of(card, tiles, splits_, 1, static_cast<unsigned>(shape_.threads()));
    grid.dynamic_shared_bytes =
        static_cast<unsigned>(std::max(shared_bytes(shape_, true, false, sizeof(T), card.compute_capability_major >= 8),
                                       bytes_that_spread(shape_, tiles * splits_, card)));
    grid.cluster_y = is_cluster() ? 2 : 1;
    grid.overlaps = has_clusters_;
    void* parameters[] = {&arguments};
    queue.launch(function_, grid, parameters);
  }

  std::shared_ptr<Context> context_;  // the functions live as long as their context
  CnnLayer problem_;
  CnnLayerProduct product_;
  GemmRegisterShape shape_;
  std::int64_t splits_;
  CnnLayerWeights<T> weights_;
  CnnLayerPlanes<T> planes_;
  CnnLayerFinish<T> finish_;
  CnnLayerStrides output_strides_{};
  CnnLayerGemmArguments<T> arguments_{};
  std::optional<CudaTable> tables_;  ///< of steps that come from a table
  CnnLayerWorkspace workspace_;
  std::size_t planes_at_ = 0;
  std::size_t parts_at_ = 0;
  std::int64_t images_ = 1;  ///< of one launch
  bool has_clusters_ = false;
  bool has_parts_ = false;  ///< are plain sums written, and ended by a second kernel?
  CUfunction function_ = nullptr;
};

Verdict check_implicit_gemm(const CnnLayer& problem, const backend::Device& device) {
  if (Verdict sizes = check_cnn_layer_sizes(problem); !sizes) return sizes;
  const std::int64_t tiles =
      CnnLayerProduct(problem).tiles(cnn_layer_implicit_gemm_images(problem.type).front().shape, 1);
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  if (static_cast<std::uint64_t>(tiles) > limit) {
    return Verdict::no(
        sentence("an image of cnn_layer takes ", tiles, " groups, but a launch takes ", limit, " at most"));
  }
  return check_output_grid(problem, device);
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const std::span<const GemmRegisterImage> images = cnn_layer_implicit_gemm_images(problem.type);
  const GemmRegisterChoice choice = fastest_cnn_layer_implicit_gemm(problem, native(device).context()->limits()).choice;
  std::vector<Tunable> tunables =
      tile_tunables(images, choice, "output channels that one group computes", "pixels that one group computes");
  tunables.push_back({"split_k", "groups over which channels and filter are split, each with a sum of its own",
                      cnn_layer_implicit_gemm_splits(problem), choice.split_k});
  return tunables;
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const GemmRegisterImage& image =
      image_of_tile(cnn_layer_implicit_gemm_images(problem.type), tuning.at("tile_m"), tuning.at("tile_n"));
  return for_element(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
    return std::make_unique<CnnLayerImplicitGemm<decltype(element)>>(native(device), problem, image,
                                                                     tuning.at("split_k"));
  });
}

/// A group computes 32 output channels at least, so that of few with short sums most of its time goes to what is not
/// there. On an H200 1 channel to 4 of 800 x 800 pixels, 3 x 3 and pooled, takes 54 us and subtile 25, to 8 of 600 x
/// 600 32 and 20, to 16 of four times 512 x 512 88 and 42, to 6 of 1000 x 1000 without a pool 85 and 53; but to 42 of
/// 163 x 288 both take 10.5, to 64 of 512 x 512 38 and 41, and 2 channels to 16 of 300 x 300 14.6 and 16.8.
Verdict pays(const CnnLayer& problem, const backend::Device& device) {
  constexpr std::int64_t kShortSum = 9, kFewOutputs = 31, kManyPixels = 32768;
  const std::int64_t sum = problem.input_channels * problem.filter_height * problem.filter_width;
  const std::int64_t pixels = problem.batch * problem.convolved_height() * problem.convolved_width();
  const bool is_short = problem.type == DataType::float32 && problem.layout == Layout::nchw && sum <= kShortSum &&
                        problem.output_channels <= kFewOutputs && pixels >= kManyPixels;
  if (!is_short || !cnn_layer_subtile().check(problem, device)) return Verdict::yes();
  return Verdict::no(sentence("a sum has ", sum, " products, there are ", problem.output_channels,
                              " output_channels and ", pixels, " pixels: subtile is expected to be faster"));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_implicit_gemm() {
  return {
      .name = "implicit_gemm",
      .summary = "a product of matrices without storing the second, pooled in registers, k split where outputs are few",
      .check = check_implicit_gemm,
      .tunables = tunables,
      .make = make,
      .pays = pays,
  };
}

}  // namespace tessera::cuda
