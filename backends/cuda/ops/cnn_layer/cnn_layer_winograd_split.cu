// cnn_layer, winograd_split: the transform of pixels of each form (cnn_layer_winograd_split.cuh), and the products,
// whose doubts the transform back finds.
#include "ops/cnn_layer/cnn_layer_winograd_split.cuh"
#include "ops/gemm/gemm_split_products.cuh"

#define TESSERA_CNN_LAYER_WINOGRAD_SPLIT(outputs, filter)                                    \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerWinogradThreads, 5)   \
      tessera_cnn_layer_winograd_split_input_##outputs##_##filter(                           \
          const __grid_constant__ tessera::cuda::CnnLayerWinogradSplitArguments arguments) { \
    tessera::cuda::winograd_split_input<outputs, filter>(arguments);                         \
  }

TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(2, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 3)

#define TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(shape, number)                                       \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)                  \
      tessera_cnn_layer_winograd_split_products_##shape(                                         \
          const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) {                      \
    tessera::cuda::multiply_prepared<tessera::cuda::kGemmSplitShapes[number], true, true>(gemm); \
  }

TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x64, 0)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x128, 1)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(256x128, 2)
