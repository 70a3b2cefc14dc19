// cnn_layer, winograd_split: the transforms of each form (cnn_layer_winograd_split.cuh), and the products between them.
#include "ops/cnn_layer/cnn_layer_winograd_split.cuh"

// The transform of pixels is fastest with all registers that its groups find, that of products with more groups.
#define TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(step, groups, outputs, filter)                     \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerWinogradThreads, groups) \
      tessera_cnn_layer_winograd_split_##step##_##outputs##_##filter(                           \
          const __grid_constant__ tessera::cuda::CnnLayerWinogradSplitArguments arguments) {    \
    tessera::cuda::winograd_split_##step<outputs, filter>(arguments);                           \
  }
#define TESSERA_CNN_LAYER_WINOGRAD_SPLIT(outputs, filter)         \
  TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(input, 4, outputs, filter) \
  TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(output, 5, outputs, filter)

TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(2, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 3)

#define TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(shape, number)                                                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)                                    \
      tessera_cnn_layer_winograd_split_products_##shape(                                                           \
          const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) {                                        \
    tessera::cuda::multiply_prepared<tessera::cuda::kGemmSplitShapes[number], true, tessera::cuda::StoreProducts>( \
        gemm);                                                                                                     \
  }

TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x64, 0)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x128, 1)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(256x128, 2)
