// What lies between the transforms of cnn_layer's winograd: in which form they hand on weights and pixels, and who
// multiplies them. The layer around it, which is the same for every kind of products: cnn_layer_winograd_layer.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/cnn_layer.h>

#include "backend/backend.h"
#include "cuda_device.h"
#include "cuda_queue.h"
#include "ops/cnn_layer/cnn_layer_winograd_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"

namespace tessera::cuda {

/// The sizes of a layer that is computed in chunks of tiles.
struct CnnLayerWinogradSizes {
  CnnLayer problem;
  CnnLayerWinogradTiling tiling;
  std::int64_t leading_outputs;      ///< elements from one row of transformed weights to the next
  std::int64_t leading;              ///< elements from one row of a chunk's products to the next
  std::vector<std::int64_t> chunks;  ///< how many tiles a chunk may have; the first is the largest
};

class CnnLayerWinogradProducts {
 public:
  virtual ~CnnLayerWinogradProducts() = default;

  /// Bytes of all transformed weights, of a chunk's transformed pixels, of their products, and of the workspace of
  /// prepare() and multiply().
  [[nodiscard]] virtual std::size_t weight_bytes() const = 0;
  [[nodiscard]] virtual std::size_t transformed_bytes() const = 0;
  [[nodiscard]] virtual std::size_t products_bytes() const = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;

  /// Calls transform(place) for the transformed weights in float32, and leaves them at `prepared` in their own form.
  virtual void prepare(backend::Queue& queue, const std::function<void(float*)>& transform,
                       const backend::Slice& prepared, const backend::Slice& workspace) const = 0;
  /// Pixels of a chunk of tiles, and which of its tiles are in doubt.
  virtual void transform(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                         const backend::Slice& transformed) const = 0;
  /// Products of so many tiles.
  virtual void multiply(backend::Queue& queue, std::int64_t tiles, const backend::Slice& weights,
                        const backend::Slice& transformed, const backend::Slice& products,
                        const backend::Slice& workspace) const = 0;
  /// Outputs of a chunk of tiles.
  virtual void transform_back(backend::Queue& queue, const CnnLayerWinogradArguments& arguments,
                              const backend::Slice& transformed, const backend::Slice& products) const = 0;
};

using MakeWinogradProducts =
    std::function<std::unique_ptr<CnnLayerWinogradProducts>(CudaDevice&, const CnnLayerWinogradSizes&)>;

/// The layer with tiles of this shape, `chunk` of which go through at once. `of_sums`: roundings of the
/// products' sums, as mathematics/cnn_layer_winograd.h takes them.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_cnn_layer_winograd(CudaDevice& device, const CnnLayer& problem,
                                                                       mathematics::WinogradTileShape shape,
                                                                       std::int64_t chunk,
                                                                       std::optional<double> of_sums,
                                                                       const MakeWinogradProducts& make_products);

/// Yes if Winograd's algorithm takes the problem, and the kernels its sizes.
[[nodiscard]] backend::Verdict check_cnn_layer_winograd(const CnnLayer& problem, std::optional<double> of_sums = {});

/// The function of a step of cnn_layer_winograd.cu or cnn_layer_winograd_split.cu for this form of tiles and filters.
[[nodiscard]] std::string winograd_function(std::string_view step, const CnnLayerWinogradTiling& tiling,
                                            const CnnLayer& problem);

/// Blocks that transform so many tiles of so many channels.
[[nodiscard]] LaunchGrid winograd_grid(const DeviceLimits& card, std::int64_t groups, std::int64_t channels);

}  // namespace tessera::cuda
