// cnn_layer, implicit_gemm: float64 in tiles of 32 output channels x 32 pixels; eight slices of one warp. How a tile is
// computed: cnn_layer_implicit_gemm.cuh.
#include "ops/cnn_layer/cnn_layer_implicit_gemm.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_CNN_LAYER_IMPLICIT_GEMM(Warp, kFloat64Tile1024, float64_1024)
