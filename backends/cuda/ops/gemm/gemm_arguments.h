// What the kernels of gemm take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// C = alpha * op(A) * op(B) + beta * C, row-major, in elements of T. alpha is 0 and k is 0 where A and B are not to be
/// read; beta is 0 where C is not to be read.
template <class T>
struct GemmArguments {
  const T* a;
  const T* b;
  T* c;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t lda;
  std::int64_t ldb;
  std::int64_t ldc;
  std::int64_t batch;  ///< how many such products; the matrices of each operand lie `stride` elements apart
  std::int64_t stride_a;
  std::int64_t stride_b;
  std::int64_t stride_c;
  T alpha;
  T beta;
  bool transpose_a;
  bool transpose_b;
};

/// The most threads of a group of the naive kernel: one an element of C.
inline constexpr int kGemmNaiveThreads = 1024;

}  // namespace tessera::cuda
