// The variant "winograd": products by gemm's register variant.
#include <algorithm>
#include <array>

#include "cuda_embedded.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/cnn_layer/cnn_layer_winograd_products.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

class RegisterProducts final : public CnnLayerWinogradProducts {
 public:
  RegisterProducts(CudaDevice& device, const CnnLayerWinogradSizes& sizes)
      : card_(device.context()->limits()),
        channels_(sizes.problem.input_channels),
        points_(sizes.tiling.points),
        leading_outputs_(sizes.leading_outputs),
        leading_(sizes.leading),
        outputs_(sizes.problem.output_channels),
        transform_(device.context(), embedded::cnn_layer_winograd,
                   winograd_function("winograd_input", sizes.tiling, sizes.problem), {}),
        transform_back_(device.context(), embedded::cnn_layer_winograd,
                        winograd_function("winograd_output", sizes.tiling, sizes.problem), {}) {
    const backend::Variant<Gemm> variant = gemm_register();
    for (const std::int64_t tiles : sizes.chunks) {
      const Gemm gemm = with_layout({.m = sizes.problem.output_channels,
                                     .n = tiles,
                                     .k = channels_,
                                     .transpose_a = true,
                                     .lda = leading_outputs_,
                                     .ldb = leading_,
                                     .ldc = leading_,
                                     .batch = points_});
      Tuning tuning;
      for (const Tunable& tunable : variant.tunables(gemm, device)) tuning[tunable.name] = tunable.preferred;
      gemms_.push_back({tiles, variant.make(gemm, device, tuning)});
      workspace_bytes_ = std::max(workspace_bytes_, gemms_.back().kernel->workspace_bytes());
    }
  }

  [[nodiscard]] std::size_t weight_bytes() const override { return matrix_bytes(channels_, leading_outputs_); }
  [[nodiscard]] std::size_t transformed_bytes() const override { return matrix_bytes(channels_, leading_); }
  [[nodiscard]] std::size_t products_bytes() const override { return matrix_bytes(outputs_, leading_); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void prepare(backend::Queue& /*queue*/, const std::function<void(float*)>& transform, const backend::Slice& prepared,
               const backend::Slice& /*workspace*/) const override {
    transform(pointer_to<float>(prepared));
  }
  void transform(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                 const backend::Slice& transformed) const override {
    CnnLayerWinogradArguments own = arguments;
    own.transformed = pointer_to<float>(transformed);
    transform_.enqueue(queue, own,
                       winograd_grid(card_, ceil_div(std::int64_t{own.tiles}, kCnnLayerWinogradThreads),
                                     channels_ + kCnnLayerWinogradDoubtRows));
  }
  void multiply(backend::Queue& queue, std::int64_t tiles, const backend::Slice& weights,
                const backend::Slice& transformed, const backend::Slice& products,
                const backend::Slice& workspace) const override {
    const auto product =
        std::find_if(gemms_.begin(), gemms_.end(), [&](const Product& candidate) { return candidate.tiles == tiles; });
    product->kernel->launch(queue, std::array{weights, transformed, products}, workspace);
  }
  void transform_back(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                      const backend::Slice& /*transformed*/, const backend::Slice& products) const override {
    CnnLayerWinogradArguments own = arguments;
    own.products = pointer_to<const float>(products);
    transform_back_.enqueue(
        queue, own, winograd_grid(card_, ceil_div(std::int64_t{own.tiles}, kCnnLayerWinogradThreads), outputs_));
  }

 private:
  /// The products of a chunk of so many tiles.
  struct Product {
    std::int64_t tiles;
    std::unique_ptr<backend::Kernel> kernel;
  };

  [[nodiscard]] std::size_t matrix_bytes(std::int64_t rows, std::int64_t columns) const {
    return static_cast<std::size_t>(points_ * rows * columns) * sizeof(float);
  }

  const DeviceLimits& card_;  // lives as long as the function, which owns its context
  std::int64_t channels_;
  std::int64_t points_;
  std::int64_t leading_outputs_;
  std::int64_t leading_;
  std::int64_t outputs_;
  CudaFunction transform_;
  CudaFunction transform_back_;
  std::vector<Product> gemms_;
  std::size_t workspace_bytes_ = 0;
};

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& /*device*/) {
  const std::vector<std::int64_t> sides = mathematics::cnn_layer_winograd_tiles(problem);
  return {{"tile", "rows and columns of outputs of a tile: fewer are more exact", sides, sides.front()},
          cnn_layer_winograd_chunk(problem, sides.front())};
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  return make_cnn_layer_winograd(native(device), problem, tuning.at("tile"), tuning.at("chunk"), {},
                                 [](CudaDevice& card, const CnnLayerWinogradSizes& sizes) {
                                   return std::make_unique<RegisterProducts>(card, sizes);
                                 });
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_winograd() {
  return {
      .name = "winograd",
      .summary =
          "transformed tiles, 2.8 to 6.3 times fewer products by gemm, a 2 x 2 pool within the tile; an error bound "
          "by the window's own pixels and its output channel's largest weight: tiles that pixels beside it would "
          "spoil are computed directly",
      .check = [](const CnnLayer& problem, const backend::Device&) { return check_cnn_layer_winograd(problem); },
      .tunables = tunables,
      .make = make,
      .error_factor_of =
          [](const CnnLayer& problem, const backend::Device&) {
            return mathematics::cnn_layer_winograd_factor(problem,
                                                          mathematics::cnn_layer_winograd_tiles(problem).front());
          },
      .pays = [](const CnnLayer& problem,
                 const backend::Device& device) { return cnn_layer_winograd_pays(problem, device); },
  };
}

}  // namespace tessera::cuda
