// The operator gemm: C = alpha * op(A) * op(B) + beta * C, row-major.
#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/types.h>

namespace tessera {

/// Dense matrix multiplication. op(X) is X or its transpose. Sizes may be 0. As in BLAS, beta = 0 means that C is not
/// read (its NaN do not spread), and alpha = 0 or k = 0 that A and B are not.
struct Gemm {
  static constexpr std::string_view kName = "gemm";

  std::int64_t m = 0;                 ///< rows of op(A) and C
  std::int64_t n = 0;                 ///< columns of op(B) and C
  std::int64_t k = 0;                 ///< columns of op(A), rows of op(B)
  DataType type = DataType::float32;  ///< of all three matrices: float32 or float64
  bool transpose_a = false;           ///< A is stored k x m
  bool transpose_b = false;           ///< B is stored n x k
  double alpha = 1.0;                 ///< rounded to `type` before use
  double beta = 0.0;                  ///< rounded to `type` before use
  std::int64_t lda = 0;               ///< elements from one stored row of A to the next; 0: rows are packed
  std::int64_t ldb = 0;               ///< the same for B
  std::int64_t ldc = 0;               ///< the same for C
  Accuracy accuracy = Accuracy::accurate;

  /// What it is run with. C must not overlap A or B; elements of C outside the m x n matrix are never written.
  struct Operands {
    ConstOperand a;
    ConstOperand b;
    Operand c;
  };

  bool operator==(const Gemm&) const = default;
};

/// The same problem with every leading dimension filled in.
[[nodiscard]] constexpr Gemm with_leading_dimensions(Gemm problem) noexcept {
  if (problem.lda == 0) problem.lda = problem.transpose_a ? problem.m : problem.k;
  if (problem.ldb == 0) problem.ldb = problem.transpose_b ? problem.k : problem.n;
  if (problem.ldc == 0) problem.ldc = problem.n;
  return problem;
}

}  // namespace tessera
