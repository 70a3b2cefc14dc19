// What the kernels of gemm's register variant take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// C = alpha * op(A) * op(B) + beta * C for each product of a batch along the grid's z, in elements of T. k is 0 where
/// A and B are not to be read, beta is 0 where C is not to be read.
template <class T>
struct GemmRegisterArguments {
  const T* a;
  const T* b;
  T* c;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t lda;
  std::int64_t ldb;
  std::int64_t ldc;
  std::int64_t stride_a;
  std::int64_t stride_b;
  std::int64_t stride_c;
  std::int64_t split_k;       ///< steps along k of one group, a multiple of the stage's depth
  std::int64_t split_stride;  ///< from one group's C to that of the next along k, where each has its own
  std::int32_t tiles_m;
  std::int32_t tiles_n;
  std::int32_t band;  ///< tiles along m that are visited before the next along n
  T alpha;
  T beta;
  /// Elements of one copy of A and of B: those of 16 bytes, 2 or 1, as the addresses of their rows and of parts of k
  /// allow.
  std::int8_t copied_a;
  std::int8_t copied_b;
  bool aligned_c;  ///< every row of C begins at a multiple of 16 bytes
  bool stages_c;   ///< sums go through shared memory on their way to C, which is large enough for that
};

/// What adds up the parts that groups along k have computed.
template <class T>
struct GemmAddArguments {
  GemmRegisterArguments<T> gemm;  ///< of which C, its size and layout, alpha and beta are used
  const T* parts;                 ///< packed matrices of m rows: all products of the batch, `splits` times
  std::int64_t row;               ///< elements of such a row, n or more
  std::int32_t splits;
  std::int32_t batch;
  std::int32_t slices;  ///< threads that share a run of C, a power of two: each adds up some of the parts
  std::int32_t runs;    ///< of four columns, side by side in a group, a power of two
};

/// Threads of a group of the kernel that adds up.
inline constexpr int kGemmAddThreads = 256;

}  // namespace tessera::cuda
