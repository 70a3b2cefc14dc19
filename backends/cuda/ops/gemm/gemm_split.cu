// The kernels of gemm's variants split and scaled_half.
#include "ops/gemm/gemm_split_prepare.cuh"
#include "ops/gemm/gemm_split_products.cuh"

#define TESSERA_GEMM_SPLIT_PREPARE(variant, has_rest)                                                              \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitPrepareThreads, 2)                             \
      tessera_gemm_##variant##_prepare(const __grid_constant__ tessera::cuda::GemmSplitPrepareArguments operand) { \
    tessera::cuda::prepare_operands<has_rest>(operand);                                                            \
  }

#define TESSERA_GEMM_SPLIT_KERNEL(name, has_rest, number, has_neighbours)               \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)         \
      name(const __grid_constant__ tessera::cuda::GemmSplitArguments gemm) {            \
    tessera::cuda::multiply_prepared<tessera::cuda::kGemmSplitShapes[number], has_rest, \
                                     tessera::cuda::StoreSums<has_neighbours>>(gemm);   \
  }

// Of each shape two: for rows of C that begin at multiples of 16 bytes, and for others.
#define TESSERA_GEMM_SPLIT(variant, has_rest, shape, number)                           \
  TESSERA_GEMM_SPLIT_KERNEL(tessera_gemm_##variant##_##shape, has_rest, number, false) \
  TESSERA_GEMM_SPLIT_KERNEL(tessera_gemm_##variant##_neighbours_##shape, has_rest, number, true)

TESSERA_GEMM_SPLIT_PREPARE(split, true)
TESSERA_GEMM_SPLIT(split, true, 128x64, 0)
TESSERA_GEMM_SPLIT(split, true, 128x128, 1)
TESSERA_GEMM_SPLIT(split, true, 256x128, 2)
TESSERA_GEMM_SPLIT_PREPARE(scaled_half, false)
TESSERA_GEMM_SPLIT(scaled_half, false, 128x64, 0)
TESSERA_GEMM_SPLIT(scaled_half, false, 128x128, 1)
TESSERA_GEMM_SPLIT(scaled_half, false, 256x128, 2)
