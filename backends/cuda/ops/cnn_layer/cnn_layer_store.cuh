// What the kernels of cnn_layer share: who computes which output, and what becomes of a sum: the pool's maximum, bias
// and ReLU.
#pragma once

#include "ops/cnn_layer/cnn_layer_arguments.h"

namespace tessera::cuda {

/// The larger of two; NaN if any of them is.
template <class T>
[[nodiscard]] __device__ __forceinline__ T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

/// Bias and ReLU. They come after the pool: both keep an order, so the result is the same. A NaN stays one.
template <class T>
[[nodiscard]] __device__ __forceinline__ T finished(T sum, T bias, bool relu) {
  const T value = sum + bias;
  return relu && value < T(0) ? T(0) : value;
}

/// Calls use(image, channel, y, x) for each output of this thread: pixels of a plane lie along the grid's x, channels
/// along y and images along z, which loop on.
template <class T, class Use>
__device__ __forceinline__ void for_each_output(const CnnLayerArguments<T>& layer, Use use) {
  const std::int64_t pixel = static_cast<std::int64_t>(blockIdx.x) * kCnnLayerThreads + threadIdx.x;
  const std::int64_t y = pixel / layer.output_width;
  const std::int64_t x = pixel - y * layer.output_width;
  if (y >= layer.output_height) return;
  for (std::int64_t image = blockIdx.z; image < layer.batch; image += gridDim.z) {
    for (std::int64_t channel = blockIdx.y; channel < layer.outputs; channel += gridDim.y) use(image, channel, y, x);
  }
}

/// Stores an output: the maximum of sum_at(i, j) over its pool's window, finished.
template <class T, class SumAt>
__device__ __forceinline__ void store_window(const CnnLayerArguments<T>& layer, std::int64_t image,
                                             std::int64_t channel, std::int64_t y, std::int64_t x, SumAt sum_at) {
  T most = 0;
  for (std::int64_t i = 0; i < layer.pool_size; ++i) {
    for (std::int64_t j = 0; j < layer.pool_size; ++j) {
      const T sum = sum_at(i, j);
      most = i + j == 0 ? sum : larger(most, sum);
    }
  }
  const T bias = layer.bias != nullptr ? layer.bias[channel] : T(0);
  const CnnLayerStrides& to = layer.output_strides;
  layer.output[image * to.image + channel * to.channel + (y * layer.output_width + x) * to.pixel] =
      finished(most, bias, layer.relu);
}

}  // namespace tessera::cuda
