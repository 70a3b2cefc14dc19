// cnn_layer, implicit_gemm: float32 in tiles of 32 output channels x 32 pixels; four slices of one warp. How a
// tile is computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<32, 32, 8, true, true>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat32Tile1024, float32_1024)
