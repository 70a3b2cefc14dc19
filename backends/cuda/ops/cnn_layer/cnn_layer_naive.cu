// cnn_layer, naive: one thread computes one output from device memory alone. The reference for what tiling gains.
//
//   output plane                 a group  = 256 neighbouring pixels of an output plane
//   +---------------------+      a thread = one pixel: each sum of its pool's window, one after the other, in loops
//   |     |/////256/////| |                 over channels and the filter
//   +---------------------+
//                                Reads of the weights: the same address in all lanes, one broadcast. Reads of the
//                                input: neighbours, but for stride and pool. Every pixel is read outputs * filter size
//                                times (overlapping pools: more often); only the caches save device memory from that.
//
// The grid's y and z are at most 65,535 groups, so channels and images loop on. Not tuned.
#include "ops/cnn_layer/cnn_layer_store.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ T convolved(const CnnLayerArguments<T>& layer, const T* image, const T* weights,
                                       std::int64_t y, std::int64_t x) {
  T sum = 0;
  for (std::int64_t c = 0; c < layer.channels; ++c) {
    const T* const channel = image + c * layer.input_strides.channel;
    for (std::int64_t i = 0; i < layer.filter_height; ++i) {
      const std::int64_t input_y = y * layer.stride + i - layer.padding;
      const T* const row = channel + input_y * layer.width * layer.input_strides.pixel;
      for (std::int64_t j = 0; j < layer.filter_width; ++j, ++weights) {
        const std::int64_t input_x = x * layer.stride + j - layer.padding;
        const bool is_inside = input_y >= 0 && input_y < layer.height && input_x >= 0 && input_x < layer.width;
        if (is_inside) sum += *weights * row[input_x * layer.input_strides.pixel];
      }
    }
  }
  return sum;
}

template <class T>
__device__ __forceinline__ void cnn_layer_naive(const CnnLayerArguments<T>& layer) {
  const std::int64_t filter = layer.channels * layer.filter_height * layer.filter_width;
  for_each_output(layer, [&](std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) {
    store_window(layer, image, channel, y, x, [&](std::int64_t i, std::int64_t j) {
      return convolved(layer, layer.input + image * layer.input_strides.image, layer.weights + channel * filter,
                       y * layer.pool_stride + i, x * layer.pool_stride + j);
    });
  });
}

}  // namespace tessera::cuda

#define TESSERA_CNN_LAYER_NAIVE(T, type)                                                                  \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerThreads)                           \
      tessera_cnn_layer_naive_##type(const __grid_constant__ tessera::cuda::CnnLayerArguments<T> layer) { \
    tessera::cuda::cnn_layer_naive(layer);                                                                \
  }

TESSERA_CNN_LAYER_NAIVE(float, float32)
TESSERA_CNN_LAYER_NAIVE(double, float64)
