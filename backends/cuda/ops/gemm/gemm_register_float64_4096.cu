// gemm, register: the kernels of one shape (gemm_register_shapes.h), for both alignments and all orientations.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {
using Warp = MmaWarp<32, 32>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat64Tile4096, float64_4096)
