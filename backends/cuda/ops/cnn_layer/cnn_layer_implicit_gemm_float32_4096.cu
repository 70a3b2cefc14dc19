// cnn_layer, implicit_gemm: float32 in tiles of 64 output channels x 64 pixels; four slices of one warp. How a
// tile is computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 8, false, true>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat32Tile4096, float32_4096)
