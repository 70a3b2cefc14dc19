// cnn_layer: ends what another kernel left as plain sums: adds up parts, pools, adds the bias, applies ReLU.
//
//   parts of one plane                              a group  = 256 neighbouring pixels of an output plane
//   +--------+  +--------+      +--------+          a thread = one pixel: the parts of each place of its window, one
//   | window |+ | window |+ ... |        | -> max              after the other, then the maximum
//   +--------+  +--------+      +--------+
//
// Every sum is read once (overlapping windows: as often as they overlap, from L1), mostly from L2, where the kernel
// before has just written it. The grid's y and z are at most 65,535 groups, so channels and images loop on.
#include "cuda_kernel_overlap.cuh"
#include "ops/cnn_layer/cnn_layer_store.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void cnn_layer_finish(const CnnLayerFinishArguments<T>& finish) {
  const CnnLayerArguments<T>& layer = finish.layer;
  const std::int64_t plane = layer.convolved_height * layer.convolved_width;
  let_next_kernel_start();
  wait_for_kernel_before();
  for_each_output(layer, [&](std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) {
    const T* const window = finish.parts + (image * layer.outputs + channel) * plane +
                            y * layer.pool_stride * layer.convolved_width + x * layer.pool_stride;
    store_window(layer, image, channel, y, x, [&](std::int64_t i, std::int64_t j) {
      const T* part = window + i * layer.convolved_width + j;
      T sum = *part;
      for (int split = 1; split < finish.splits; ++split) {
        part += finish.split_stride;
        sum += *part;
      }
      return sum;
    });
  });
}

}  // namespace tessera::cuda

#define TESSERA_CNN_LAYER_FINISH(T, type)                                                                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerThreads)                                   \
      tessera_cnn_layer_finish_##type(const __grid_constant__ tessera::cuda::CnnLayerFinishArguments<T> finish) { \
    tessera::cuda::cnn_layer_finish(finish);                                                                      \
  }

TESSERA_CNN_LAYER_FINISH(float, float32)
TESSERA_CNN_LAYER_FINISH(double, float64)
