// The last step of every gemm kernel: one element of C.
#pragma once

#include "ops/gemm/gemm_arguments.h"

namespace tessera::cuda {

/// C[row][column] = alpha * sum + beta * C[row][column]; with beta = 0, C is not read, so that its NaN do not spread.
template <class T>
__device__ __forceinline__ void store(const GemmArguments<T>& gemm, std::int64_t row, std::int64_t column, T sum) {
  T* const element = gemm.c + row * gemm.ldc + column;
  T value = gemm.alpha * sum;
  if (gemm.beta != T(0)) value += gemm.beta * *element;
  *element = value;
}

}  // namespace tessera::cuda
