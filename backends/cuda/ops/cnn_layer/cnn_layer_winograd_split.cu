// cnn_layer, winograd_split: the transforms of each form (cnn_layer_winograd_split.cuh), and the products between them.
#include "ops/cnn_layer/cnn_layer_winograd_split.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_columns.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_output.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_store.cuh"

// The transform of pixels wants registers more than groups, that of products groups.
#define TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(step, threads, groups, y, x, filter)               \
  extern "C" __global__ void __launch_bounds__(threads, groups)                                 \
      tessera_cnn_layer_winograd_split_##step##_##y##_##x##_##filter(                           \
          const __grid_constant__ tessera::cuda::CnnLayerWinogradSplitArguments arguments) {    \
    tessera::cuda::winograd_split_##step<tessera::cuda::WinogradForm<y, x, filter>>(arguments); \
  }
#define TESSERA_CNN_LAYER_WINOGRAD_SPLIT(y, x, filter, parts, groups, groups_back)                                  \
  TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(input, tessera::cuda::kCnnLayerWinogradThreads* parts, groups, y, x, filter) \
  TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(output, tessera::cuda::kCnnLayerWinogradThreads, groups_back, y, x, filter)  \
  TESSERA_CNN_LAYER_WINOGRAD_SPLIT_ONE(across, tessera::cuda::kCnnLayerWinogradThreads, groups_back, y, x, filter)

TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 6, 5, tessera::cuda::cnn_layer_winograd_split_parts(10), 2, 6)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 4, 5, tessera::cuda::cnn_layer_winograd_split_parts(8), 3, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(2, 2, 5, tessera::cuda::cnn_layer_winograd_split_parts(6), 4, 5)
TESSERA_CNN_LAYER_WINOGRAD_SPLIT(4, 4, 3, tessera::cuda::cnn_layer_winograd_split_parts(6), 4, 5)

#define TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(shape, number)                                           \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)                      \
      tessera_cnn_layer_winograd_split_products_##shape(                                             \
          const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) {                          \
    constexpr tessera::cuda::GemmSplitShape kShape = tessera::cuda::kCnnLayerWinogradShapes[number]; \
    tessera::cuda::multiply_prepared<kShape, true, tessera::cuda::StoreProducts<kShape>>(gemm);      \
  }

TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x64, 0)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(128x128, 2)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(256x112, 3)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(256x120, 4)
TESSERA_CNN_LAYER_WINOGRAD_PRODUCTS(256x128, 5)

#define TESSERA_CNN_LAYER_WINOGRAD_COLUMNS(outputs, filter)                                     \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)                 \
      tessera_cnn_layer_winograd_split_columns_##outputs##_##filter##_128x72(                   \
          const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) {                     \
    constexpr tessera::cuda::GemmSplitShape kShape = tessera::cuda::kCnnLayerWinogradShapes[1]; \
    tessera::cuda::multiply_columns<kShape, outputs, filter>(gemm);                             \
  }

TESSERA_CNN_LAYER_WINOGRAD_COLUMNS(4, 5)
TESSERA_CNN_LAYER_WINOGRAD_COLUMNS(2, 5)
TESSERA_CNN_LAYER_WINOGRAD_COLUMNS(4, 3)
