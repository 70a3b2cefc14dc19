// gemm, register: the kernels of one shape (gemm_register_shapes.h), for both alignments and all orientations.
#include "ops/gemm/gemm_register.cuh"
#include "ops/gemm/gemm_register_fma.cuh"

namespace tessera::cuda {
using Warp = FmaWarp<64, 64, 8, false, true>;
}

TESSERA_GEMM_REGISTER(Warp, kFloat32Tile4096, float32_4096)
