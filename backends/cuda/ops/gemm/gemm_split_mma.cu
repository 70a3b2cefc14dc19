// The kernels of gemm's variants split_mma and scaled_half_mma; those that prepare stand in gemm_split.cu.
#include "ops/gemm/gemm_split_mma.cuh"

#define TESSERA_GEMM_SPLIT_MMA(variant, has_rest, shape, number)                                             \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitMmaShapes[number].threads(),             \
                                               tessera::cuda::kSplitMmaShapes[number].blocks)                \
      tessera_gemm_##variant##_mma_##shape(const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) { \
    tessera::cuda::multiply_prepared_by_warps<tessera::cuda::kSplitMmaShapes[number], has_rest>(gemm);       \
  }

TESSERA_GEMM_SPLIT_MMA(split, true, 64x64, 0)
TESSERA_GEMM_SPLIT_MMA(split, true, 128x128, 1)
TESSERA_GEMM_SPLIT_MMA(scaled_half, false, 64x64, 0)
TESSERA_GEMM_SPLIT_MMA(scaled_half, false, 128x128, 1)
