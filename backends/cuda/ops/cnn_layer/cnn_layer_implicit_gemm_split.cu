// The kernels of cnn_layer's variant implicit_gemm_split.
#include "ops/cnn_layer/cnn_layer_implicit_gemm_split.cuh"
#include "ops/cnn_layer/cnn_layer_split_pixels.cuh"

#define TESSERA_CNN_LAYER_SPLIT_STEP(name, Arguments, step)                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerThreads)                    \
      tessera_cnn_layer_split_##name(const __grid_constant__ tessera::cuda::Arguments arguments) { \
    tessera::cuda::step(arguments);                                                                \
  }

#define TESSERA_CNN_LAYER_SPLIT(shape, number)                                                            \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerSplitShapes[number].threads(),     \
                                               tessera::cuda::kCnnLayerSplitShapes[number].blocks)        \
      tessera_cnn_layer_implicit_gemm_split_##shape(                                                      \
          const __grid_constant__ tessera::cuda::CnnLayerSplitArguments arguments) {                      \
    tessera::cuda::cnn_layer_implicit_gemm_split<tessera::cuda::kCnnLayerSplitShapes[number]>(arguments); \
  }

TESSERA_CNN_LAYER_SPLIT_STEP(weights, CnnLayerSplitWeightsArguments, order_weights)
TESSERA_CNN_LAYER_SPLIT_STEP(largest, CnnLayerSplitArguments, find_largest_pixels)
TESSERA_CNN_LAYER_SPLIT_STEP(pixels, CnnLayerSplitArguments, split_pixels)
TESSERA_CNN_LAYER_SPLIT_STEP(doubts, CnnLayerSplitArguments, tell_doubts)
TESSERA_CNN_LAYER_SPLIT(64x64, 0)
TESSERA_CNN_LAYER_SPLIT(128x128, 1)
