// cnn_layer, implicit_gemm: the kernels of one type and one tile of TESSERA_TILE_M output channels x TESSERA_TILE_N pixels,
// which the build gives. How a tile is computed: cnn_layer_implicit_gemm.cuh; by which warps: gemm_register.cu.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_warps.cuh"

namespace tessera::cuda {
using Warp = GemmRegisterWarp<TESSERA_TYPE, TESSERA_TILE_M, TESSERA_TILE_N>;
constexpr GemmRegisterShape kShape = gemm_register_shape<TESSERA_TYPE>(TESSERA_TILE_M, TESSERA_TILE_N);
}  // namespace tessera::cuda

// cnn_layer_implicit_gemm.cpp builds the same names.
#define TESSERA_CNN_LAYER_IMPLICIT_GEMM(name, wide)                                                           \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kShape.threads(), tessera::cuda::kShape.blocks) \
      tessera_cnn_layer_implicit_gemm_##name(                                                                 \
          const __grid_constant__ tessera::cuda::CnnLayerGemmArguments<tessera::cuda::TESSERA_TYPE> layer) {  \
    tessera::cuda::cnn_layer_implicit_gemm<tessera::cuda::kShape, tessera::cuda::Warp, wide>(layer);          \
  }
#define TESSERA_NAMED(type, tile_m, tile_n)                                \
  TESSERA_CNN_LAYER_IMPLICIT_GEMM(type##_##tile_m##x##tile_n##_wide, true) \
  TESSERA_CNN_LAYER_IMPLICIT_GEMM(type##_##tile_m##x##tile_n##_few, false)
#define TESSERA_OF_SHAPE(type, tile_m, tile_n) TESSERA_NAMED(type, tile_m, tile_n)  // their values, not their names

TESSERA_OF_SHAPE(TESSERA_TYPE, TESSERA_TILE_M, TESSERA_TILE_N)
