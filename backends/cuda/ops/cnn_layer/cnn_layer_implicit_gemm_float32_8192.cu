// cnn_layer, implicit_gemm: float32 in tiles of 64 output channels x 128 pixels; two slices of two warps. How a
// tile is computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 4, true>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat32Tile8192, float32_8192)
