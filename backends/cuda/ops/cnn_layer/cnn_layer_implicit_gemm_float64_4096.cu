// cnn_layer, implicit_gemm: float64 in tiles of 64 output channels x 64 pixels; two slices of 2 x 2 warps. How a tile
// is computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat64Tile4096, float64_4096)
