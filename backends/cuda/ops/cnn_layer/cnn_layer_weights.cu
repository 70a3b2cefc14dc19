// cnn_layer: prepares weights for subtile and implicit_gemm, as a matrix with a row for each step along k.
//
//   weights                            prepared              a group  = 256 output channels of one step
//   +--------------------------+       +-----------+         a thread = one element
//   | o = 0: c = 0: places     |       | k = 0     |
//   |        c = 1: places     |  -->  | k = 1     |         Once for each set of weights, so that all kernels read
//   | o = 1: ...               |       | ...  o -> |         neighbouring output channels from neighbouring addresses.
//   +--------------------------+       +-----------+
#include "cuda_kernel_overlap.cuh"
#include "ops/cnn_layer/cnn_layer_arguments.h"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void cnn_layer_weights(const CnnLayerWeightsArguments<T>& layer) {
  let_next_kernel_start();
  wait_for_kernel_before();
  for (std::int64_t k = blockIdx.x; k < layer.steps; k += gridDim.x) {
    const std::int64_t place = k / layer.chunk % layer.places;
    const std::int64_t channel = k / layer.chunk / layer.places * layer.chunk + k % layer.chunk;
    for (std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kCnnLayerThreads + threadIdx.x; o < layer.leading;
         o += static_cast<std::int64_t>(gridDim.y) * kCnnLayerThreads) {
      const bool is_weight = o < layer.outputs && channel < layer.channels;
      layer.prepared[k * layer.leading + o] =
          is_weight ? layer.weights[(o * layer.channels + channel) * layer.places + place] : T(0);
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_CNN_LAYER_WEIGHTS(T, type)                                                                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerThreads)                                    \
      tessera_cnn_layer_weights_##type(const __grid_constant__ tessera::cuda::CnnLayerWeightsArguments<T> layer) { \
    tessera::cuda::cnn_layer_weights(layer);                                                                       \
  }

TESSERA_CNN_LAYER_WEIGHTS(float, float32)
TESSERA_CNN_LAYER_WEIGHTS(double, float64)
