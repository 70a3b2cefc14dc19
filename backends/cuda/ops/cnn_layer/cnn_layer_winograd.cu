// cnn_layer, winograd: the transforms of each form. How they compute: cnn_layer_winograd.cuh.
#include "ops/cnn_layer/cnn_layer_winograd.cuh"

#define TESSERA_CNN_LAYER_WINOGRAD_ONE(step, Arguments, y, x, filter)                   \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerWinogradThreads) \
      tessera_cnn_layer_winograd_##step##_##y##_##x##_##filter(                         \
          const __grid_constant__ tessera::cuda::Arguments layer) {                     \
    tessera::cuda::winograd_##step<tessera::cuda::WinogradForm<y, x, filter>>(layer);   \
  }
#define TESSERA_CNN_LAYER_WINOGRAD_WEIGHTS(y, x, filter) \
  TESSERA_CNN_LAYER_WINOGRAD_ONE(weights, CnnLayerWinogradWeightsArguments, y, x, filter)
#define TESSERA_CNN_LAYER_WINOGRAD(side, filter)                                       \
  TESSERA_CNN_LAYER_WINOGRAD_WEIGHTS(side, side, filter)                               \
  TESSERA_CNN_LAYER_WINOGRAD_ONE(input, CnnLayerWinogradArguments, side, side, filter) \
  TESSERA_CNN_LAYER_WINOGRAD_ONE(output, CnnLayerWinogradArguments, side, side, filter)

extern "C" __global__ void __launch_bounds__(
    tessera::cuda::kCnnLayerWinogradPixels* tessera::cuda::kCnnLayerWinogradSlices)
    tessera_cnn_layer_winograd_magnitudes(
        const __grid_constant__ tessera::cuda::CnnLayerWinogradMagnitudesArguments layer) {
  tessera::cuda::winograd_magnitudes(layer);
}

TESSERA_CNN_LAYER_WINOGRAD(4, 5)
TESSERA_CNN_LAYER_WINOGRAD(2, 5)
TESSERA_CNN_LAYER_WINOGRAD(4, 3)
TESSERA_CNN_LAYER_WINOGRAD_WEIGHTS(4, 6, 5)  // of winograd_split
