// What the host code of every cnn_layer kernel shares: the problem as the kernels take it, and the steps around them:
// preparing weights, turning layouts, ending what was left as sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <tessera/ops/cnn_layer.h>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/cnn_layer_pool.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_arguments.h"

namespace tessera::cuda {

using mathematics::ceil_div;
using mathematics::has_plain_pool;

/// Planes: NCHW.
[[nodiscard]] constexpr CnnLayerStrides plane_strides(std::int64_t channels, std::int64_t pixels) noexcept {
  return {channels * pixels, pixels, 1};
}
[[nodiscard]] constexpr CnnLayerStrides strides_of(Layout layout, std::int64_t channels, std::int64_t pixels) noexcept {
  return layout == Layout::nhwc ? CnnLayerStrides{channels * pixels, 1, channels} : plane_strides(channels, pixels);
}

/// The problem without its operands.
template <class T>
[[nodiscard]] CnnLayerArguments<T> cnn_layer_arguments(const CnnLayer& problem) noexcept {
  CnnLayerArguments<T> arguments{};
  arguments.batch = problem.batch;
  arguments.channels = problem.input_channels;
  arguments.outputs = problem.output_channels;
  arguments.height = problem.height;
  arguments.width = problem.width;
  arguments.filter_height = problem.filter_height;
  arguments.filter_width = problem.filter_width;
  arguments.stride = problem.stride;
  arguments.padding = problem.padding;
  arguments.convolved_height = problem.convolved_height();
  arguments.convolved_width = problem.convolved_width();
  arguments.output_height = problem.output_height();
  arguments.output_width = problem.output_width();
  arguments.pool_size = problem.pool_size;
  arguments.pool_stride = problem.pool_stride;
  arguments.input_strides = strides_of(problem.layout, problem.input_channels, problem.height * problem.width);
  arguments.output_strides =
      strides_of(problem.layout, problem.output_channels, problem.output_height() * problem.output_width());
  arguments.relu = problem.relu;
  return arguments;
}

/// Calls `make(T())` with the type of the problem's elements.
template <class Make>
[[nodiscard]] std::unique_ptr<backend::Kernel> for_element(DataType type, const Make& make) {
  if (type == DataType::float64) return make(double());
  return make(float());
}

/// A grid of so many groups, as far as the card allows: the kernels loop on along y and z.
[[nodiscard]] LaunchGrid grid_of(const DeviceLimits& card, std::int64_t x, std::int64_t y, std::int64_t z,
                                 unsigned threads);

/// The grid of naive and finish: pixels of the output, channels, images.
[[nodiscard]] LaunchGrid output_grid(const CnnLayer& problem, const DeviceLimits& card);

/// Can the pixels of an output plane lie along the grid's x? Of the kernels that output_grid() is for.
[[nodiscard]] backend::Verdict check_output_grid(const CnnLayer& problem, const backend::Device& device);

/// Hands out places in a workspace, one after the other.
class CnnLayerWorkspace {
 public:
  /// Where the next `bytes` begin: a multiple of 256.
  [[nodiscard]] std::size_t take(std::size_t bytes) noexcept {
    const std::size_t begin = end_;
    end_ += (bytes + 255) / 256 * 256;
    return begin;
  }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return end_; }

 private:
  std::size_t end_ = 0;
};

/// Weights as a matrix of steps x output channels; CnnLayerWeightsArguments says which steps.
template <class T>
class CnnLayerWeights {
 public:
  CnnLayerWeights(const std::shared_ptr<Context>& context, const CnnLayer& problem, std::int64_t chunk,
                  std::int64_t steps, std::int64_t leading);
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    return static_cast<std::size_t>(arguments_.steps * arguments_.leading) * sizeof(T);
  }
  [[nodiscard]] std::int64_t leading() const noexcept { return arguments_.leading; }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared) const;

 private:
  CnnLayerWeightsArguments<T> arguments_{};
  CudaFunction function_;
};

/// Images with their channels beside each other, turned into planes, and planes turned back.
template <class T>
class CnnLayerPlanes {
 public:
  CnnLayerPlanes(const std::shared_ptr<Context>& context, std::int64_t channels, std::int64_t pixels);
  void enqueue(backend::Queue& queue, const T* from, T* to, std::int64_t images) const;
  void enqueue_back(backend::Queue& queue, const T* from, T* to, std::int64_t images) const;

 private:
  void turn(backend::Queue& queue, const CnnLayerTransposeArguments<T>& arguments) const;

  const Context& card_;
  std::int64_t channels_;
  std::int64_t pixels_;  ///< of a plane
  CudaFunction function_;
};
/// Those of a layer's input.
template <class T>
[[nodiscard]] CnnLayerPlanes<T> planes_of_input(const std::shared_ptr<Context>& context, const CnnLayer& problem) {
  return {context, problem.input_channels, problem.height * problem.width};
}

/// Ends a layer whose sums were left as planes.
template <class T>
class CnnLayerFinish {
 public:
  CnnLayerFinish(const std::shared_ptr<Context>& context, const CnnLayer& problem);
  /// `images` of them in `splits` parts, one part behind the other.
  void enqueue(backend::Queue& queue, const T* parts, std::int64_t splits, const T* bias, T* output,
               std::int64_t images) const;

 private:
  CnnLayerFinishArguments<T> arguments_{};
  CudaFunction function_;
};

}  // namespace tessera::cuda
