// cnn_layer, implicit_gemm: float32 in tiles of 128 output channels x 128 pixels; a thread holds 8 x 16 of them. How a
// tile is computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 8, false>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat32Tile16384, float32_16384)
