// The first step of every gemm kernel: which products of the batch a block computes.
#pragma once

#include "ops/gemm/gemm_arguments.h"

namespace tessera::cuda {

/// Product `index` of the batch as a problem of its own.
template <class T>
__device__ __forceinline__ GemmArguments<T> product_of(GemmArguments<T> gemm, std::int64_t index) {
  gemm.a += index * gemm.stride_a;
  gemm.b += index * gemm.stride_b;
  gemm.c += index * gemm.stride_c;
  return gemm;
}

/// Calls `multiply` for each product of the block. The grid's z is at most 65,535, so it loops on.
template <class T, class Multiply>
__device__ __forceinline__ void for_each_product(const GemmArguments<T>& gemm, Multiply multiply) {
  for (std::int64_t index = blockIdx.z; index < gemm.batch; index += gridDim.z) multiply(product_of(gemm, index));
}

}  // namespace tessera::cuda
